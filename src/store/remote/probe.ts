/**
 * Finds out what an S3 service honours, with a few requests to keys of its own below the prefix, which it
 * removes afterwards.
 *
 * A service can ignore a condition, refuse each request that has one, or honour it. Only a service that
 * refuses a condition that does not hold, and executes one that holds, honours it. Each feature has a key
 * of its own, so that all features are tried at the same time.
 */
import { childText, writeXml } from "../../http/xml.ts";
import { gapsOf, type RemoteFeatures, type RemoteGap, type RemotePlace } from "./remote-options.ts";
import { nameOf } from "./remote-sentences.ts";
import { parseDocument, readErrorDocument, readText } from "./s3-answer.ts";
import type { S3Connection, S3Request } from "./s3-connection.ts";
import { RemoteError } from "./s3-transport.ts";

/** An entity tag that no content has. */
const otherTag = "0123456789abcdef0123456789abcdef";
const content = new TextEncoder().encode("ledge");

/** @throws RemoteError when the service or the bucket cannot be used: the message says why */
export async function probe(connection: S3Connection): Promise<RemoteFeatures> {
  await requireBucket(connection);
  const start = `${connection.place.prefix}.ledge-probe-${crypto.randomUUID()}`;
  const ifMatch = (request: Pick<S3Request, "method" | "body">, quote: string) => (key: string) =>
    honoursTag(connection, { ...request, key }, quote);
  const write = { method: "PUT", body: content } as const;
  const trials = {
    "none-match": (key: string) => honoursNoneMatch(connection, key),
    quoted: ifMatch(write, '"'),
    unquoted: ifMatch(write, ""),
    delete: ifMatch({ method: "DELETE" }, '"'),
    complete: (key: string) => honoursComplete(connection, key),
  };
  const keyOf = (name: string): string => `${start}-${name}`;
  const outcomes = await Promise.allSettled(
    Object.entries(trials).map(async ([name, honours]) =>
      (await honours(keyOf(name))) ? name : null,
    ),
  );
  // Also after a failure. What cannot be removed is a failure too: buckets need to delete.
  const removals = await Promise.allSettled(
    Object.keys(trials).map((name) => remove(connection, keyOf(name))),
  );
  for (const outcome of [...outcomes, ...removals]) {
    if (outcome.status === "rejected") throw outcome.reason;
  }
  const honoured = new Set<unknown>(outcomes.map((each) => "value" in each && each.value));
  const tagForm = (["quoted", "unquoted"] as const).find((form) => honoured.has(form));
  return {
    putIfMatch: tagForm ?? null,
    putIfNoneMatch: honoured.has("none-match"),
    conditionalComplete: honoured.has("complete"),
    conditionalDelete: honoured.has("delete"),
  };
}

/**
 * Finds out whether the bucket can be read, and writes nothing. A list has a document in any case: the
 * answer to HEAD does not say why a bucket is refused.
 *
 * @throws RemoteError as `probe`
 */
export async function requireBucket(connection: S3Connection): Promise<void> {
  const { place } = connection;
  const answer = await connection.send({
    method: "GET",
    query: [
      ["list-type", "2"],
      ["max-keys", "1"],
      ["prefix", place.prefix],
    ],
  });
  const { status, error } = answer;
  const document = parseDocument(await readText(answer));
  if (status === 200 && document?.name === "ListBucketResult") return;
  const reason = error === null ? `status ${status}, and no list` : error.code;
  throw new RemoteError(
    "refused",
    `${nameOf(place)} is no S3 service, or has no list of the bucket "${place.bucketName}": ` +
      `the answer has ${reason}. Correct endpoint of [remotes.${place.remote}].`,
    { status },
  );
}

async function honoursNoneMatch(connection: S3Connection, key: string): Promise<boolean> {
  const headers = { "if-none-match": "*" };
  const first = await attempt(connection, { method: "PUT", key, body: content, headers });
  const second = await attempt(connection, { method: "PUT", key, body: content, headers });
  return first === "executed" && second === "refused";
}

/** Whether a request with an entity tag of another content is refused, and with the tag of the object executed. */
async function honoursTag(
  connection: S3Connection,
  request: S3Request & { readonly key: string },
  quote: string,
): Promise<boolean> {
  const entityTag = await put(connection, request.key);
  const attemptIfMatch = (tag: string): Promise<Outcome> =>
    attempt(connection, { ...request, headers: { "if-match": quote + tag + quote } });
  if ((await attemptIfMatch(otherTag)) !== "refused") return false;
  return (await attemptIfMatch(entityTag)) === "executed";
}

async function honoursComplete(connection: S3Connection, key: string): Promise<boolean> {
  await put(connection, key);
  const created = await connection.send({ method: "POST", key, query: [["uploads", ""]] });
  const document = parseDocument(await readText(created));
  const uploadId = document === null ? null : childText(document, "UploadId");
  if (uploadId === null) return false;
  const upload = ["uploadId", uploadId] as const;
  try {
    const part = await connection.send({
      method: "PUT",
      key,
      query: [["partNumber", "1"], upload],
      body: content,
      isRepeatable: true,
    });
    await readText(part);
    const parts = [{ PartNumber: 1, ETag: part.headers.get("etag") ?? "" }];
    const outcome = await attempt(connection, {
      method: "POST",
      key,
      query: [upload],
      headers: { "if-none-match": "*", "content-type": "application/xml" },
      body: new TextEncoder().encode(writeXml("CompleteMultipartUpload", { Part: parts })),
    });
    return outcome === "refused";
  } finally {
    // The upload may be complete: then there is nothing to abort.
    await remove(connection, key, [upload]);
  }
}

/** `other`: the service does not take a request with this condition. */
type Outcome = "executed" | "refused" | "other";

async function attempt(connection: S3Connection, request: S3Request): Promise<Outcome> {
  try {
    const answer = await connection.send(request);
    const { status } = answer;
    const text = await readText(answer);
    if (status === 412 || status === 409) return "refused";
    if (status >= 300) return "other";
    // The status of a completion can be sent before its outcome is known.
    const code = readErrorDocument(text)?.code;
    if (code === undefined) return "executed";
    return code === "PreconditionFailed" ? "refused" : "other";
  } catch (error) {
    const status = error instanceof RemoteError ? error.status : null;
    if (status === 501 || status === 405) return "other";
    throw error;
  }
}

/** @returns the entity tag, without quotes */
async function put(connection: S3Connection, key: string): Promise<string> {
  const result = await connection.send({ method: "PUT", key, body: content, isRepeatable: true });
  await readText(result);
  const entityTag = result.headers.get("etag");
  if (result.status === 200 && entityTag !== null) return entityTag.replaceAll('"', "");
  const { place } = connection;
  throw new RemoteError(
    "refused",
    `${nameOf(place)} does not store objects in the bucket "${place.bucketName}": a put has status ` +
      `${result.status}${result.error === null ? " and no entity tag" : `, ${result.error.code}`}. ` +
      "Allow the access key to write there.",
    { status: result.status },
  );
}

async function remove(
  connection: S3Connection,
  key: string,
  query: NonNullable<S3Request["query"]> = [],
): Promise<void> {
  await readText(await connection.send({ method: "DELETE", key, query, isRepeatable: true }));
}

/**
 * Why a bucket cannot be used: a gap that the binding cannot do without, and that the configuration does
 * not accept. A conditional completion and a conditional delete are refused when they are requested.
 *
 * @returns `null` for a service that suffices
 */
export function requiredGaps(
  place: RemotePlace,
  features: RemoteFeatures,
  accept: readonly RemoteGap[],
): string | null {
  if (accept.includes("conditional-put") || !gapsOf(features).includes("conditional-put")) {
    return null;
  }
  const ignored = [
    ...(features.putIfNoneMatch ? [] : ["If-None-Match"]),
    ...(features.putIfMatch === null ? ["If-Match"] : []),
  ];
  return (
    `${nameOf(place)} ignores ${ignored.join(" and ")} of a put, so two writers can overwrite each other. ` +
    `Use a service that honours conditional writes, or write accept = ["conditional-put"] in [remotes.${place.remote}].`
  );
}
