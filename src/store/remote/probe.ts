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
import type { S3Connection, S3Request, S3Result } from "./s3-connection.ts";
import { discardBody, parseDocument, readErrorDocument } from "./s3-answer.ts";
import { RemoteError } from "./s3-transport.ts";

/** An entity tag that no content has. */
const otherTag = "0123456789abcdef0123456789abcdef";
const content = new TextEncoder().encode("ledge");

/** @throws RemoteError when the service or the bucket cannot be used: the message says why */
export async function probe(connection: S3Connection): Promise<RemoteFeatures> {
  await requireBucket(connection);
  const start = `${connection.place.prefix}.ledge-probe-${crypto.randomUUID()}`;
  const keys = ["none-match", "quoted", "unquoted", "delete", "complete"].map(
    (name) => `${start}-${name}`,
  ) as [string, string, string, string, string];
  const outcomes = await Promise.allSettled([
    honoursNoneMatch(connection, keys[0]),
    honoursTag(connection, keys[1], { method: "PUT", body: content }),
    honoursTag(connection, keys[2], { method: "PUT", body: content }, unquoted),
    honoursTag(connection, keys[3], { method: "DELETE" }),
    honoursComplete(connection, keys[4]),
  ]);
  // Also after a failure. What cannot be removed is a failure too: buckets need to delete.
  const removals = await Promise.allSettled(keys.map((key) => remove(connection, key)));
  for (const outcome of [...outcomes, ...removals]) {
    if (outcome.status === "rejected") throw outcome.reason;
  }
  const [putIfNoneMatch, isQuoted, isUnquoted, conditionalDelete, conditionalComplete] =
    outcomes.map((outcome) => outcome.status === "fulfilled" && outcome.value) as [
      boolean,
      boolean,
      boolean,
      boolean,
      boolean,
    ];
  const unquotedOrNone = isUnquoted ? "unquoted" : null;
  return {
    putIfMatch: isQuoted ? "quoted" : unquotedOrNone,
    putIfNoneMatch,
    conditionalComplete,
    conditionalDelete,
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
  const { status, body, error } = await connection.send({
    method: "GET",
    query: [
      ["list-type", "2"],
      ["max-keys", "1"],
      ["prefix", place.prefix],
    ],
  });
  const text = await new Response(body).text();
  if (status === 200 && parseDocument(text)?.name === "ListBucketResult") return;
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

type TagForm = (entityTag: string) => string;
const quoted: TagForm = (entityTag) => `"${entityTag}"`;
const unquoted: TagForm = (entityTag) => entityTag;

/** Whether a request with an entity tag of another content is refused, and with the tag of the object executed. */
async function honoursTag(
  connection: S3Connection,
  key: string,
  request: Pick<S3Request, "method" | "body">,
  form: TagForm = quoted,
): Promise<boolean> {
  const entityTag = await put(connection, key);
  const attemptIfMatch = (tag: string): Promise<Outcome> =>
    attempt(connection, { ...request, key, headers: { "if-match": form(tag) } });
  if ((await attemptIfMatch(otherTag)) !== "refused") return false;
  return (await attemptIfMatch(entityTag)) === "executed";
}

async function honoursComplete(connection: S3Connection, key: string): Promise<boolean> {
  await put(connection, key);
  const created = await connection.send({ method: "POST", key, query: [["uploads", ""]] });
  const document = parseDocument(await new Response(created.body).text());
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
    await discardBody(part);
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
    const result = await connection.send(request);
    return await outcomeOf(result);
  } catch (error) {
    const status = error instanceof RemoteError ? error.status : null;
    if (status === 501 || status === 405) return "other";
    throw error;
  }
}

async function outcomeOf({ status, body }: S3Result): Promise<Outcome> {
  const text = await new Response(body).text();
  if (status === 412 || status === 409) return "refused";
  if (status >= 300) return "other";
  // The status of a completion can be sent before its outcome is known.
  const code = text === "" ? undefined : readErrorDocument(text)?.code;
  if (code === undefined) return "executed";
  return code === "PreconditionFailed" ? "refused" : "other";
}

/** @returns the entity tag, without quotes */
async function put(connection: S3Connection, key: string): Promise<string> {
  const result = await connection.send({ method: "PUT", key, body: content, isRepeatable: true });
  await discardBody(result);
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
  await discardBody(await connection.send({ method: "DELETE", key, query, isRepeatable: true }));
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
