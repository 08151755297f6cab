/** What an answer decides, and when a request is sent again. */
import type { Refusal } from "./remote-sentences.ts";
import type { RemoteError, RemoteFailure } from "./s3-transport.ts";

const attemptsMax = 5;
const firstDelayMilliseconds = 100;
const delayMillisecondsMax = 5_000;

/** How long to wait before the next attempt; `null` when there is no next attempt. */
export function retryDelay(attempt: {
  readonly failed: number;
  /** Until the last moment at which a request may be sent. */
  readonly restMilliseconds: number;
  readonly askedMilliseconds: number | null;
  /** From 0 to less than 1. */
  readonly random: number;
}): number | null {
  if (attempt.failed >= attemptsMax) return null;
  const longest = Math.min(delayMillisecondsMax, firstDelayMilliseconds * 2 ** attempt.failed);
  const delay = Math.max(attempt.random * longest, attempt.askedMilliseconds ?? 0);
  return delay >= attempt.restMilliseconds ? null : delay;
}

/**
 * Reads `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date.
 *
 * @returns `null` for no header, or for another text
 */
export function retryAfterMilliseconds(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const delay = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(delay) ? null : Math.max(delay, 0);
}

/** Codes of status 400 that concern the connection. The others of 400 are results of a request. */
const refusedCodes = new Set([
  "AuthorizationHeaderMalformed",
  "AuthorizationQueryParametersError",
  "ExpiredToken",
  "IllegalLocationConstraintException",
  "InvalidBucketName",
  "InvalidRegionName",
  "InvalidToken",
  "NoSuchBucket",
  "TokenRefreshRequired",
]);

/** Of an answer that puts a request off. */
const putOffStatuses: ReadonlySet<number> = new Set([408, 429, 503]);

/**
 * `result`: the caller decides. `unreachable`: the service says that it has not executed the request and can do so
 * later. A status alone does not say so, because proxies answer with it also after they have passed a request on.
 */
export function verdictOf({ status, document, isForeign }: Refusal): RemoteFailure | "result" {
  if (putOffStatuses.has(status)) return document === null ? "unknown" : "unreachable";
  if (status === 400 && document?.code === "RequestTimeout") return "unreachable";
  // 507: there is no space on the device, and a later attempt is no better.
  if (status >= 500 && status !== 501 && status !== 507) return "unknown";
  if (status < 400 || [401, 403, 405, 501, 507].includes(status)) return "refused";
  return isForeign || refusedCodes.has(document?.code ?? "") ? "refused" : "result";
}

/** Whether an answer puts the request off, after which a write is sent again only when its object has been read. */
export function isPutOff({ failure, status }: RemoteError): boolean {
  if (status === undefined) return false;
  return failure === "unreachable" || putOffStatuses.has(status);
}
