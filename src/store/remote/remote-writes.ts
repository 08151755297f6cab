/**
 * Writes of one key: a put, a delete, and the completion of an upload (`remote-uploads.ts`).
 *
 * Our own rules decide on the object that a HEAD has seen, and a condition of the request keeps the service
 * from writing when another writer was faster: then the decision is made again.
 *
 *     seen        guard of the request
 *     an object   If-Match: its entity tag
 *     nothing     If-None-Match: *
 *
 * A write without a condition is guarded too. Services may acknowledge an unguarded write that has lost a
 * race, as if the winner had overwritten it (Ceph does). If the winner is a conditional write, no order of
 * the two explains both answers.
 *
 * A condition that says the same as a guard needs no HEAD: an entity tag, or that there is no object. A
 * delete of several keys is one request without guards.
 *
 * The answer to a write can get lost. The object that is there afterwards says whether the write was
 * executed: a put has its version in the packed header. A write that may have been executed is never
 * reported as a failed condition, and is sent again only while what it has seen is there: an object with the
 * same entity tag, or no object.
 */
import { randomHex } from "../../base/random-hex.ts";
import { hexToBase64 } from "../../http/headers.ts";
import { childrenOf, childText, writeXml } from "../../http/xml.ts";
import { checkContent } from "../core/content.ts";
import { conditionHolds, type Conditional } from "../core/conditional.ts";
import { StoreError } from "../core/errors.ts";
import { validateMetadata } from "../core/metadata.ts";
import { deleteKeysMax, inlineBytesMax, uploadBytesMax } from "../core/limits.ts";
import { md5 } from "../core/hash.ts";
import type { NewObject } from "../core/object.ts";
import type { Content, EncodedObject, Request } from "../core/operations.ts";
import { serviceKey, type RemoteContext, type Spool } from "./remote-context.ts";
import { encodeObject, etagOf, packHeaders } from "./remote-object.ts";
import type { RemoteFeatures } from "./remote-options.ts";
import { headObject } from "./remote-reads.ts";
import { requireDocument } from "./s3-answer.ts";
import type { S3Request } from "./s3-connection.ts";
import { RemoteError } from "./s3-transport.ts";

const deletesMax = 32;

/** `null` when the condition does not hold. */
export async function putObject(
  remote: RemoteContext,
  request: Omit<Request<"put">, "method">,
): Promise<EncodedObject | null> {
  const { key, content, onlyIf, checksum, http, custom, storageClass, ssecKeyMd5 } = request;
  const { features } = remote;
  const named = serviceKey(remote, key);
  validateMetadata(http, custom);
  const size = checkContent(content, checksum, uploadBytesMax);
  const { checksums } = content;
  const etag = checksums.md5 as string;
  const object: NewObject = {
    key,
    version: randomHex(16),
    uploaded: remote.now(),
    size,
    etag,
    checksums,
    storageClass,
    http,
    custom,
    ssecKeyMd5,
  };
  const headers = { "content-md5": hexToBase64(etag), ...packHeaders(object) };
  const body = requestBody(content, remote.spool);
  const send = async (guard: Guard): Promise<WriteAnswer<string>> => {
    const guarding = guardHeaders(guard, features);
    // Some services answer 404 when there is no object that could match.
    const guarded = "if-match" in guarding ? [404, 409, 412] : [409, 412];
    const answer = await remote.connection.exchange(
      { method: "PUT", key: named, headers: { ...headers, ...guarding }, body },
      `store "${key}"`,
      [200, 201, 204, ...guarded],
    );
    return answer.status < 300 ? { written: etagOf(answer.headers) } : "guarded";
  };
  const written = await guardedWrite({
    effect: "stored",
    // A large value would be sent in vain if the condition does not hold.
    presumed: size <= inlineBytesMax ? guardOfCondition(onlyIf, features) : null,
    holds: (seen) => onlyIf === undefined || conditionHolds(onlyIf, seen),
    head: () => headObject(remote, key),
    write: send,
    resultIn: (seen) => (seen?.version === object.version ? seen.etag : null),
  });
  return written === null ? null : encodeObject({ ...object, etag: written || etag });
}

/** The body of a request. Each attempt opens content of the spool again. */
export function requestBody(content: Content, spool: Spool): NonNullable<S3Request["body"]> {
  if ("bytes" in content) return content.bytes;
  const { blob, size } = content;
  return async () => ({ stream: await spool.open(blob, size), length: size });
}

export async function deleteObjects(
  remote: RemoteContext,
  { keys, onlyIf }: Omit<Request<"delete">, "method">,
): Promise<null> {
  if (keys.length < 1 || keys.length > deleteKeysMax) throw new StoreError(10027);
  const named = new Map(keys.map((key) => [key, serviceKey(remote, key)]));
  const [first = ""] = keys;
  if (named.size === 1) return deleteOne(remote, first, onlyIf);
  const others = [...named.keys()].filter((key) => !isXmlText.test(named.get(key) as string));
  for (let start = 0; start < others.length; start += deletesMax) {
    await Promise.all(others.slice(start, start + deletesMax).map((key) => deleteOne(remote, key)));
  }
  await deleteMany(
    remote,
    [...named.values()].filter((key) => isXmlText.test(key)),
  );
  return null;
}

/** The characters of XML 1.0 (section 2.2), without line ends, which parsers change. */
const isXmlText = /^[\t\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** @throws StoreError 10031 for an object for which the condition does not hold */
async function deleteOne(
  remote: RemoteContext,
  key: string,
  condition?: Conditional,
): Promise<null> {
  const named = serviceKey(remote, key);
  const send = async (guard: Guard, isRepeatable = false): Promise<WriteAnswer<true>> => {
    const headers = requiredGuardHeaders(guard, remote.features);
    const { status } = await remote.connection.exchange(
      { method: "DELETE", key: named, headers, isRepeatable },
      `delete "${key}"`,
      [200, 204, 404, 409, 412],
    );
    return status === 409 || status === 412 ? "guarded" : { written: true };
  };
  if (!remote.features.conditionalDelete) {
    if (condition !== undefined) {
      throw new RemoteError(
        "refused",
        "Cannot delete with a condition: the S3 service ignores conditions of a delete. Delete without a " +
          "condition, or use a service that has conditional deletes.",
      );
    }
    // A repetition has the same effect.
    await send(null, true);
    return null;
  }
  const isDeleted = await guardedWrite({
    effect: "deleted",
    holds: (seen) => condition === undefined || conditionHolds(condition, seen),
    head: () => headObject(remote, key),
    write: send,
    resultIn: (seen) => seen === null || null,
  });
  if (isDeleted === null) throw new StoreError(10031);
  return null;
}

async function deleteMany(remote: RemoteContext, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const document = writeXml("Delete", { Object: keys.map((key) => ({ Key: key })), Quiet: true });
  const body = new TextEncoder().encode(document);
  const { text } = await remote.connection.exchange(
    {
      method: "POST",
      query: [["delete", ""]],
      headers: { "content-type": "application/xml", "content-md5": hexToBase64(md5(body)) },
      body,
      isRepeatable: true,
    },
    "delete objects",
  );
  const errors = childrenOf(requireDocument(text), "Error").filter(
    (each) => childText(each, "Code") !== "NoSuchKey",
  );
  const [error] = errors;
  if (error === undefined) return;
  const message = (childText(error, "Message") ?? "").replace(/\.$/, "");
  const key = (childText(error, "Key") ?? "").slice(remote.prefix.length);
  throw new RemoteError(
    "refused",
    `Cannot delete ${errors.length} of ${keys.length} objects. The first is "${key}", for which the ` +
      `S3 service answered with ${childText(error, "Code")}: ${message}.`,
  );
}

/** What the object must be when the service executes a write; `null`: anything. */
export type Guard = { readonly etag: string } | "absent" | null;

/** An object, as far as decisions depend on it. */
type SeenObject = Pick<NewObject, "etag" | "version" | "uploaded">;

/** `"guarded"`: the guard did not hold, and nothing was written. */
export type WriteAnswer<Written> = { readonly written: Written } | "guarded";

export interface GuardedWrite<Seen extends SeenObject, Written> {
  readonly effect: Effect;
  /** A guard that says the same as the condition: the first request needs no HEAD. */
  readonly presumed?: Guard;
  holds(seen: Seen | null): boolean;
  head(): Promise<Seen | null>;
  write(guard: Guard): Promise<WriteAnswer<Written>>;
  /** The result if the write has been executed, or if nothing is to be done; `null` otherwise. */
  resultIn(seen: Seen | null): Written | null;
}

type Effect = "stored" | "deleted";

/** Other writers are faster so often only if very many write to one key. */
const conflictsMax = 64;
/** Each of these is an exchange that failed after the retries of the connection. */
export const unknownsMax = 3;

/**
 * @returns `null` when the condition does not hold
 * @throws StoreError 10058 when other writers were always faster, 10001 when it is not known whether the
 *   write was executed; RemoteError when nothing was written
 */
export async function guardedWrite<Seen extends SeenObject, Written>(
  operation: GuardedWrite<Seen, Written>,
): Promise<Written | null> {
  const { effect } = operation;
  let guard = operation.presumed ?? null;
  let unknowns = 0;
  let silence: RemoteError | null = null;
  for (let conflicts = 0; conflicts <= conflictsMax;) {
    if (guard !== null) {
      const answer = await operation.write(guard).catch(unknownOutcome);
      if (answer instanceof RemoteError) {
        if (++unknowns > unknownsMax) throw uncertain(effect, answer);
        if (answer.isSilence) silence = answer;
      } else if (answer === "guarded") conflicts++;
      else return answer.written;
    }
    const seen = await operation.head().catch((error: unknown) => {
      throw unknowns > 0 && error instanceof RemoteError ? uncertain(effect, error) : error;
    });
    const result = operation.resultIn(seen);
    if (result !== null) return result;
    if (silence !== null) throw uncertain(effect, silence);
    if (unknowns > 0 && JSON.stringify(guard) !== JSON.stringify(guardOf(seen)))
      throw replaced(effect);
    if (unknowns === 0 && !operation.holds(seen)) return null;
    guard = guardOf(seen);
  }
  throw unknowns > 0 ? replaced(effect) : new StoreError(10058);
}

/** The entity tag of an object of a service: the MD5, and the number of parts. */
const plainEtag = /^[0-9a-f]{32}(-\d{1,5})?$/;

type PutFeatures = Pick<RemoteFeatures, "putIfMatch" | "putIfNoneMatch">;

/** A guard that says the same as a condition; `null` for a condition that needs our rules. */
export function guardOfCondition(
  condition: Conditional | undefined,
  { putIfMatch, putIfNoneMatch }: PutFeatures,
): Guard {
  const { etagMatches, etagDoesNotMatch, uploadedBefore, uploadedAfter } = condition ?? {};
  if (uploadedBefore !== undefined || uploadedAfter !== undefined) return null;
  if (etagMatches === undefined) {
    const isAbsence = etagDoesNotMatch?.some(({ kind }) => kind === "any") === true;
    return isAbsence && putIfNoneMatch ? "absent" : null;
  }
  const [pattern, ...others] = etagMatches;
  if (etagDoesNotMatch !== undefined || others.length > 0 || putIfMatch === null) return null;
  const isTag = pattern?.kind === "strong" && plainEtag.test(pattern.value);
  return isTag ? { etag: pattern.value } : null;
}

function guardOf(seen: SeenObject | null): Guard {
  return seen === null ? "absent" : { etag: seen.etag };
}

/** The conditions of a request. A service that ignores a condition does not get it. */
export function guardHeaders(
  guard: Guard,
  { putIfMatch, putIfNoneMatch }: PutFeatures,
): Record<string, string> {
  if (guard === null) return {};
  if (guard === "absent") return putIfNoneMatch ? { "if-none-match": "*" } : {};
  if (putIfMatch === null) return {};
  return { "if-match": putIfMatch === "quoted" ? `"${guard.etag}"` : guard.etag };
}

/** The conditions of a request other than a put, at a service that honours them there. */
export function requiredGuardHeaders(
  guard: Guard,
  { putIfMatch }: Pick<RemoteFeatures, "putIfMatch">,
): Record<string, string> {
  return guardHeaders(guard, { putIfMatch: putIfMatch ?? "quoted", putIfNoneMatch: true });
}

/** Passes on what is known not to have been executed. */
export function unknownOutcome(error: unknown): RemoteError {
  if (error instanceof RemoteError && error.failure === "unknown") return error;
  throw error;
}

export function uncertain(effect: Effect, error: RemoteError): StoreError {
  return new StoreError(
    10001,
    `The object may have been ${effect} or not: ${error.message} Read the object to find out.`,
  );
}

export function replaced(effect: Effect): StoreError {
  const since = effect === "stored" ? "overwritten" : "stored";
  return new StoreError(
    10001,
    `The object may have been ${effect} and ${since} by another writer since: the answer of the S3 ` +
      "service was lost, and the service has another object now. Read the object to find out.",
  );
}
