/**
 * What an answer of an S3 service must say before a write counts as done, and before an object counts as absent.
 *
 * The answer can be that of another server: a page of maintenance, the default host of a proxy. So status 200 is not
 * enough. Any other success is an unknown outcome, which the caller resolves as a lost answer: by reading.
 */
import { etagOf, unquoted } from "./remote-object.ts";
import { readText, type S3Result } from "./s3-answer.ts";
import type { S3Connection } from "./s3-connection.ts";
import { RemoteError } from "./s3-transport.ts";

type TextAnswer = S3Result & { readonly text: string };

/** Statuses of success, for `exchange()`: what they say is decided here. */
export const successStatuses: readonly number[] = Array.from({ length: 100 }, (_, i) => 200 + i);

/**
 * The entity tag of what was stored.
 *
 * @param md5 that the entity tag must be; `null` where the service has other entity tags
 * @throws RemoteError unknown
 */
export function storedEtag(answer: TextAnswer, md5: string | null, action: string): string {
  const etag = etagOf(answer.headers);
  if (answer.status !== 200) throw unacknowledged(action, `status ${answer.status}`);
  if (etag === "") throw unacknowledged(action, "no entity tag");
  if (md5 !== null && etag !== md5) throw unacknowledged(action, "the entity tag of other content");
  return etag;
}

/**
 * The entity tag of a completed upload.
 *
 * @param expected that follows from the parts; `null` where the service has other entity tags
 * @throws RemoteError unknown
 */
export function completedEtag(
  text: string | null,
  expected: string | null,
  action: string,
): string {
  const etag = unquoted(text ?? "");
  if (etag === "") throw unacknowledged(action, "no entity tag");
  if (expected !== null && etag !== expected) {
    throw unacknowledged(action, "the entity tag of other parts");
  }
  return etag;
}

/**
 * Whether something was deleted, or was not there. Only 204 says so: any server can answer 200 without a text.
 *
 * @param code of an answer that says that there is nothing to delete
 * @throws RemoteError unknown; refused, for another status
 */
export function requireDeleted(answer: S3Result, code: string, action: string): void {
  const { status, error } = answer;
  if (status === 204) return;
  if (status === 404 && error?.code === code) return;
  if (status < 300) throw unacknowledged(action, `status ${status}`);
  throw unclear(action, error?.code ?? `status ${status} without a reason`);
}

/**
 * Asks why HEAD was answered with 404, because the answer to HEAD has no reason: the whole bucket can be missing.
 *
 * @returns whether there is no object; false when there is one by now
 * @throws RemoteError
 */
export async function isAbsent(
  connection: S3Connection,
  key: string,
  action: string,
): Promise<boolean> {
  // One octet: an object that has been stored meanwhile is not read. One without content has none: 416.
  const answer = await connection.send({ method: "GET", key, headers: { range: "bytes=0-0" } });
  const { status, error } = answer;
  if (status === 200) await answer.body?.cancel();
  else await readText(answer);
  // 409: Ceph reads while another writer replaces the object.
  if ([200, 206, 409, 416].includes(status)) return false;
  if (status === 404 && error?.code === "NoSuchKey") return true;
  throw unclear(action, error?.code ?? `status ${status} without a reason`);
}

/** Nothing says that the service has executed the request, and nothing says that it has not. */
function unacknowledged(action: string, reason: string): RemoteError {
  return new RemoteError(
    "unknown",
    `Cannot ${action}: the answer says success with ${reason}, which no S3 service does. Correct endpoint, or ` +
      "look at what is between this machine and the service.",
  );
}

function unclear(action: string, reason: string): RemoteError {
  return new RemoteError("refused", `Cannot ${action}: the S3 service answered with ${reason}.`);
}
