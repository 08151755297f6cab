/**
 * Writes of one key: a put, a delete, and the completion of an upload (`remote-uploads.ts`).
 *
 * A write with a condition: our own rules decide on the object that a HEAD has seen, and a condition of the request
 * keeps the service from writing when another writer was faster: then the decision is made again.
 *
 *     seen        guard of the request
 *     an object   If-Match: its entity tag
 *     nothing     If-None-Match: *
 *
 * A condition that says the same as a guard needs no HEAD: an entity tag, or that there is no object.
 *
 * A put without a condition is one request, in the form that holds at the service (`RemoteFeatures`): Ceph acknowledges
 * a plain put that has lost a race, as if the winner had overwritten it, which no order explains if the winner was a
 * conditional write. When the service says that the put has lost a race, some write took effect since the put began,
 * and the object that is there now is the last of them. If that was a put without a condition, this put counts as
 * stored right before that one: the order of the two is free, and no read was in between. Otherwise the put is
 * repeated. So N puts of a key at once cost about 2 N requests.
 *
 * A delete of several keys is one request without guards.
 *
 * The answer to a write can get lost, and an answer that puts a write off (429, 503) can come from a proxy that has
 * passed the write on. The object that is there afterwards says whether the write was executed: a put
 * has its version in the packed header. A write that may have been executed is never reported as a failed condition,
 * and is sent again only while what it has seen is there: an object with the same entity tag, or no object; for a
 * write that has seen nothing, an object that is older than the write.
 */
import { hexToBase64 } from "../../base/hex.ts";
import { randomHex } from "../../base/random-hex.ts";
import { childrenOf, childText, writeXml } from "../../http/xml.ts";
import { checkContent } from "../core/content.ts";
import { conditionHolds, type Conditional } from "../core/conditional.ts";
import { failureOf, StoreError } from "../core/errors.ts";
import { validateMetadata } from "../core/metadata.ts";
import { deleteKeysMax, inlineBytesMax, uploadBytesMax } from "../core/limits.ts";
import { md5 } from "../core/hash.ts";
import type { NewObject } from "../core/object.ts";
import type { Content, EncodedObject, Request } from "../core/operations.ts";
import { requireDeleted, storedEtag, successStatuses } from "./acknowledgement.ts";
import { serviceKey, type RemoteContext, type Spool } from "./remote-context.ts";
import { encodeObject, packHeaders, type FoundObject } from "./remote-object.ts";
import type { RemoteFeatures } from "./remote-options.ts";
import { headObject } from "./remote-reads.ts";
import { isPutOff } from "./retry.ts";
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
  const isUnconditional = onlyIf === undefined;
  const packed = packHeaders({ ...object, ...(isUnconditional && { isUnconditional }) });
  const headers = { "content-md5": hexToBase64(etag), ...packed };
  const body = requestBody(content, remote.spool);
  const attempts = { failed: 0 };
  const action = `store "${key}"`;
  const send = async (guard: Guard): Promise<WriteAnswer<string>> => {
    const guarding =
      guard === null
        ? putHeaders(features.unconditionalPut ?? "plain")
        : guardHeaders(guard, features);
    // 404: the object was deleted meanwhile.
    const guarded = Object.keys(guarding).length > 0 ? [404, 409, 412] : [409, 412];
    const answer = await remote.connection.exchange(
      { method: "PUT", key: named, headers: { ...headers, ...guarding }, body, attempts },
      action,
      [...successStatuses, ...guarded],
    );
    if (guarded.includes(answer.status)) return "guarded";
    return { written: storedEtag(answer, features.etagIsMd5 ? etag : null, action) };
  };
  const written = await guardedWrite({
    ...remote,
    effect: "stored",
    isBlind: isUnconditional && features.unconditionalPut !== null,
    // A large value would be sent in vain if the condition does not hold.
    presumed: size <= inlineBytesMax ? guardOfCondition(onlyIf, features) : null,
    holds: (seen) => onlyIf === undefined || conditionHolds(onlyIf, seen),
    head: () => headObject(remote, key),
    write: send,
    resultIn: (seen) => (seen?.version === object.version ? seen.etag : null),
    // 409 to a plain put says nothing about other writes.
    overwrittenIn: (seen) =>
      isUnconditional && features.unconditionalPut !== "plain" && seen?.isUnconditional === true
        ? etag
        : null,
  });
  return written === null ? null : encodeObject({ ...object, etag: written });
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
  const attempts = { failed: 0 };
  const send = async (guard: Guard): Promise<WriteAnswer<true>> => {
    const headers = requiredGuardHeaders(guard, remote.features);
    const action = `delete "${key}"`;
    const answer = await remote.connection.exchange(
      { method: "DELETE", key: named, headers, attempts },
      action,
      [...successStatuses, 404, 409, 412],
    );
    if (answer.status === 409 || answer.status === 412) return "guarded";
    requireDeleted(answer, "NoSuchKey", action);
    return { written: true };
  };
  const { conditionalDelete, unconditionalDelete } = remote.features;
  if (condition !== undefined && !conditionalDelete) {
    throw new RemoteError(
      "refused",
      "Cannot delete with a condition: the S3 service ignores conditions of a delete, or does not compare and " +
        "delete in one step. Delete without a condition, or use a service that has conditional deletes.",
      { reason: "unsupported" },
    );
  }
  const isDeleted = await guardedWrite({
    ...remote,
    effect: "deleted",
    isBlind: condition === undefined && (unconditionalDelete || !conditionalDelete),
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
  const errors = childrenOf(requireDocument(text, "DeleteResult", "unknown"), "Error").filter(
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
type SeenObject = Pick<FoundObject, "etag" | "version" | "uploaded" | "age" | "isUnconditional">;

/** `"guarded"`: the guard did not hold, and nothing was written. */
export type WriteAnswer<Written> = { readonly written: Written } | "guarded";

export interface GuardedWrite<Seen extends SeenObject, Written> extends Pick<
  RemoteContext,
  "now" | "pause"
> {
  readonly effect: Effect;
  /** A write without a condition, whose first request has no guard and follows no HEAD. */
  readonly isBlind?: boolean;
  /** A guard that says the same as the condition: the first request needs no HEAD. */
  readonly presumed?: Guard;
  holds(seen: Seen | null): boolean;
  head(): Promise<Seen | null>;
  write(guard: Guard): Promise<WriteAnswer<Written>>;
  /** The result if the write has been executed, or if nothing is to be done; `null` otherwise. */
  resultIn(seen: Seen | null): Written | null;
  /** The result if the write counts as overwritten by the object, after a lost race; `null` otherwise. */
  overwrittenIn?(seen: Seen | null): Written | null;
}

type Effect = "stored" | "deleted";

/** Other writers are faster so often only if very many write to one key. */
const conflictsMax = 64;
/** Before the next attempt, a random part of the pause, which grows: 64 attempts wait for 16 s on average. */
const firstPauseMilliseconds = 20;
const pauseMillisecondsMax = 500;
/** Times of objects are in whole seconds. */
const ageMarginMilliseconds = 2_000;
/** As many attempts as of a request that the connection repeats by itself. */
const unknownsMax = 4;

/**
 * @returns `null` when the condition does not hold
 * @throws StoreError 10058 when other writers were always faster, 10001 when it is not known whether the
 *   write was executed; RemoteError when nothing was written
 */
export async function guardedWrite<Seen extends SeenObject, Written>(
  operation: GuardedWrite<Seen, Written>,
): Promise<Written | null> {
  const { effect, isBlind = false, now } = operation;
  let started = now();
  let guard = operation.presumed ?? null;
  const lost = new LostAnswers();
  for (let conflicts = 0; conflicts <= conflictsMax;) {
    let hasLost = false;
    if (guard !== null || isBlind) {
      if (guard === null) started = now();
      const answer = await operation.write(guard).catch(lostAnswer);
      if (answer instanceof RemoteError) lost.add(answer);
      else if (answer === "guarded") hasLost = true;
      else return answer.written;
    }
    const seen = await operation.head().catch((error: unknown) => {
      throw lost.error !== null && error instanceof RemoteError ? uncertain(effect, error) : error;
    });
    const result = operation.resultIn(seen);
    if (result !== null) return result;
    if (lost.error !== null) {
      // A request that was silent for all of its time may be executed later, over what another writer stores.
      if (lost.error.isSilence || (lost.isOver && lost.isUnknown))
        throw uncertain(effect, lost.error);
      const isUntouched =
        guard === null
          ? isOlder(seen, now() - started)
          : JSON.stringify(guard) === JSON.stringify(guardOf(seen));
      if (!isUntouched) throw replaced(effect, seen);
      // The service says that it has executed nothing, and the object shows it.
      if (lost.isOver) throw lost.error;
    } else {
      // An object that is older than this write has overwritten nothing.
      const mayHaveWon = hasLost && !isOlder(seen, now() - started);
      const overwritten = mayHaveWon ? (operation.overwrittenIn?.(seen) ?? null) : null;
      if (overwritten !== null) return overwritten;
      if (!operation.holds(seen)) return null;
    }
    if (hasLost) {
      await operation.pause(
        Math.min(pauseMillisecondsMax, firstPauseMilliseconds * 2 ** Math.min(conflicts++, 10)),
      );
    }
    guard = isBlind && lost.error === null ? null : guardOf(seen);
  }
  if (lost.error !== null) throw uncertain(effect, lost.error);
  const failure = { outcome: "not executed", reason: "conflict" } as const;
  throw new StoreError(10058, undefined, { failure });
}

/** Whether nothing was stored since a write began. */
function isOlder(seen: SeenObject | null, elapsed: number): boolean {
  return seen === null || (seen.age !== null && seen.age > elapsed + ageMarginMilliseconds);
}

/** The entity tag of an object of a service: the MD5, and the number of parts. */
const plainEtag = /^[0-9a-f]{32}(-\d{1,5})?$/;

export type PutForm = Pick<RemoteFeatures, "putIfMatch" | "putIfNoneMatch">;

/** An entity tag that no content has. */
export const otherTag = "0123456789abcdef0123456789abcdef";

/** The headers of a put without a condition. */
export function putHeaders(
  form: NonNullable<RemoteFeatures["unconditionalPut"]>,
): Record<string, string> {
  return form === "plain" ? {} : { "if-none-match": `"${otherTag}"` };
}

/** A guard that says the same as a condition; `null` for a condition that needs our rules. */
export function guardOfCondition(
  condition: Conditional | undefined,
  { putIfMatch, putIfNoneMatch }: PutForm,
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
  { putIfMatch, putIfNoneMatch }: PutForm,
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

/**
 * The answers of a write that do not decide it: none came, or one that leaves open what happened, or one that puts the
 * write off. Proxies put off what they have passed on, so the object is read in each case.
 */
export class LostAnswers {
  /** The last of them. */
  error: RemoteError | null = null;
  /** The write is not sent again. */
  isOver = false;
  /** Without a word of the service that nothing was executed. */
  isUnknown = false;
  #count = 0;

  add(error: RemoteError): void {
    this.error = error;
    this.isUnknown ||= error.failure === "unknown";
    const isGivenUp = isPutOff(error) && error.retry === null;
    this.isOver = ++this.#count > unknownsMax || isGivenUp;
  }
}

/** Passes on what is known not to have been executed. */
export function lostAnswer(error: unknown): RemoteError {
  if (error instanceof RemoteError && (error.failure === "unknown" || isPutOff(error)))
    return error;
  throw error;
}

export function uncertain(effect: Effect, error: RemoteError): StoreError {
  return new StoreError(
    10001,
    `The object may have been ${effect} or not: ${error.message} Read the object to find out.`,
    { failure: { ...failureOf(error), outcome: "unknown" } },
  );
}

/** @param found what the service has now, for people */
export function replaced(
  effect: Effect,
  seen: SeenObject | null,
  found = seen === null ? "no object" : "another object",
): StoreError {
  const since = effect === "deleted" ? "stored" : seen === null ? "deleted" : "overwritten";
  return new StoreError(
    10001,
    `The object may have been ${effect} and ${since} by another writer since: the S3 service did not ` +
      `confirm the request, and has ${found} now. Read the object to find out.`,
    { failure: { outcome: "unknown", reason: "conflict" } },
  );
}
