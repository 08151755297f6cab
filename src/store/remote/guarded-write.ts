/**
 * Writes of one key: a put, a delete, and the completion of an upload.
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
 * A condition that says the same as a guard needs no HEAD: an entity tag, or that there is no object.
 *
 * The answer to a write can get lost. The object that is there afterwards says whether the write was
 * executed: a put has its version in the packed header. A write that may have been executed is never
 * reported as a failed condition, and is sent again only while what it has seen is there: an object with the
 * same entity tag, or no object.
 */
import type { Conditional } from "../core/conditional.ts";
import { StoreError } from "../core/errors.ts";
import { RemoteError } from "./remote-error.ts";
import type { RemoteFeatures } from "./remote-features.ts";

/** What the object must be when the service executes a write; `null`: anything. */
export type Guard = { readonly etag: string } | "absent" | null;

/** An object, as far as decisions depend on it. */
export interface SeenObject {
  readonly etag: string;
  readonly version: string;
  readonly uploaded: number;
}

/** `"guarded"`: the guard did not hold, and nothing was written. */
export type WriteAnswer<Written> = { readonly written: Written } | "guarded";

export interface GuardedWrite<Seen extends SeenObject, Written> {
  /** The effect, for the sentences of errors. */
  readonly effect: "stored" | "deleted";
  /** A guard that says the same as the condition: the first request needs no HEAD. */
  readonly presumed?: Guard;
  /** The condition of the write. */
  holds(seen: Seen | null): boolean;
  head(): Promise<Seen | null>;
  /** @throws RemoteError */
  write(guard: Guard): Promise<WriteAnswer<Written>>;
  /** The result if the write has been executed, or if nothing is to be done; `null` otherwise. */
  resultIn(seen: Seen | null): Written | null;
}

/** Other writers are faster so often only if very many write to one key. */
export const conflictsMax = 64;
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
  for (let conflicts = 0; conflicts <= conflictsMax;) {
    if (guard !== null) {
      const answer = await operation.write(guard).catch(unknownOutcome);
      if (answer instanceof RemoteError) {
        if (++unknowns > unknownsMax) throw uncertain(effect, answer);
      } else if (answer === "guarded") conflicts++;
      else return answer.written;
    }
    const seen = await headAfter(operation, unknowns > 0);
    const result = operation.resultIn(seen);
    if (result !== null) return result;
    if (unknowns > 0 && !isSame(guard, guardOf(seen))) throw replaced(effect);
    if (unknowns === 0 && !operation.holds(seen)) return null;
    guard = guardOf(seen);
  }
  throw unknowns > 0 ? replaced(effect) : new StoreError(10058);
}

/** The entity tag of an object of a service: the MD5, and the number of parts. */
const plainEtag = /^[0-9a-f]{32}(-\d{1,5})?$/;

/** A guard that says the same as a condition; `null` for a condition that needs our rules. */
export function guardOfCondition(
  condition: Conditional | undefined,
  { putIfMatch, putIfNoneMatch }: Pick<RemoteFeatures, "putIfMatch" | "putIfNoneMatch">,
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

export function guardOf(seen: SeenObject | null): Guard {
  return seen === null ? "absent" : { etag: seen.etag };
}

/** The conditions of a request. A service that ignores a condition does not get it. */
export function guardHeaders(
  guard: Guard,
  { putIfMatch, putIfNoneMatch }: Pick<RemoteFeatures, "putIfMatch" | "putIfNoneMatch">,
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
  const features = { putIfMatch: putIfMatch ?? "quoted", putIfNoneMatch: true };
  return guardHeaders(guard, features);
}

/** Passes on what is known not to have been executed. */
export function unknownOutcome(error: unknown): RemoteError {
  if (error instanceof RemoteError && error.failure === "unknown") return error;
  throw error;
}

async function headAfter<Seen extends SeenObject>(
  { effect, head }: Pick<GuardedWrite<Seen, unknown>, "effect" | "head">,
  isUnknown: boolean,
): Promise<Seen | null> {
  try {
    return await head();
  } catch (error) {
    throw isUnknown && error instanceof RemoteError ? uncertain(effect, error) : error;
  }
}

function isSame(left: Guard, right: Guard): boolean {
  const tag = (guard: Guard): string | null =>
    guard === null || guard === "absent" ? guard : `"${guard.etag}"`;
  return tag(left) === tag(right);
}

type Effect = GuardedWrite<SeenObject, unknown>["effect"];

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
