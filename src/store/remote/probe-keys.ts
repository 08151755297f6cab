/**
 * The objects that the probe writes: their names, and how they are removed.
 *
 * The names begin with a reserved name below the prefix of the bucket. Lists and counts leave these objects out. A
 * bucket with versions keeps what is deleted, so each version and each delete marker is removed by its id.
 */
import { childrenOf, childText } from "../../http/xml.ts";
import { readExpected, requireDocument, textDecoderOf } from "./s3-answer.ts";
import type { S3Connection, S3Query } from "./s3-connection.ts";

const reservedName = ".ledge-probe-";
/** What a probe that was killed has left is removed by the next one. A probe that runs takes seconds. */
const leftMilliseconds = 10 * 60_000;

/** Whether a key, or the common prefix of keys, is one of the probe. @param key without the prefix of the bucket */
export function isProbeKey(key: string): boolean {
  return key.startsWith(reservedName);
}

/** The begin of the keys of one probe. */
export function probeKeyStart({ place }: S3Connection): string {
  return `${place.prefix}${reservedName}${crypto.randomUUID()}-`;
}

/** Removes what earlier probes have left. */
export function removeLeftovers(connection: S3Connection, hasVersions: boolean): Promise<void> {
  return removeProbeObjects(
    connection,
    connection.place.prefix + reservedName,
    hasVersions,
    leftMilliseconds,
  );
}

/** @param age of what is removed, by the clock of the service */
export async function removeProbeObjects(
  connection: S3Connection,
  start: string,
  hasVersions: boolean,
  age = 0,
): Promise<void> {
  const isOld = (changed: string | null, now: number): boolean =>
    age === 0 || now - (Date.parse(changed ?? "") || 0) > age;
  const removals: { readonly key: string; readonly query: S3Query }[] = [];
  const list = async (query: S3Query) => {
    const answer = await connection.send({ method: "GET", query: [...query, ["prefix", start]] });
    const text = await readExpected(answer, [200], "list the objects of the probe");
    const document = requireDocument(text);
    return {
      document,
      decode: textDecoderOf(document),
      now: Date.parse(answer.headers.get("date") ?? "") || Date.now(),
    };
  };
  // A page has more than a probe writes.
  const uploads = await list([["uploads", ""]]);
  for (const upload of childrenOf(uploads.document, "Upload")) {
    if (!isOld(childText(upload, "Initiated"), uploads.now)) continue;
    const key = uploads.decode(childText(upload, "Key") ?? "");
    removals.push({ key, query: [["uploadId", childText(upload, "UploadId") ?? ""]] });
  }
  const names = hasVersions ? ["Version", "DeleteMarker"] : ["Contents"];
  const objects = await list(hasVersions ? [["versions", ""]] : [["list-type", "2"]]);
  for (const object of names.flatMap((name) => childrenOf(objects.document, name))) {
    if (!isOld(childText(object, "LastModified"), objects.now)) continue;
    const key = objects.decode(childText(object, "Key") ?? "");
    const query = hasVersions ? [["versionId", childText(object, "VersionId") ?? ""] as const] : [];
    removals.push({ key, query });
  }
  for (let index = 0; index < removals.length; index += removalsMax) {
    const some = removals.slice(index, index + removalsMax);
    await Promise.all(
      some.map(async ({ key, query }) => {
        // A service that does not keep to the prefix must not cost an object of the bucket.
        if (!key.startsWith(start)) return;
        const answer = await connection.send({ method: "DELETE", key, query, isRepeatable: true });
        await readExpected(answer, [200, 204, 404], "remove the objects of the probe");
      }),
    );
  }
}

const removalsMax = 16;
