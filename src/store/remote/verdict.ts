/** What the refusal of an S3 service means for a request. */
import type { RemoteFailure } from "./remote-error.ts";
import type { Refusal } from "./remote-sentences.ts";

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

/**
 * `result`: the caller decides. `unreachable`: the service has not executed the request and can do so
 * later.
 */
export function verdictOf({ status, document, isForeign }: Refusal): RemoteFailure | "result" {
  if (status === 408 || status === 429 || status === 503) return "unreachable";
  if (status === 400 && document?.code === "RequestTimeout") return "unreachable";
  // 507: there is no space on the device, and a later attempt is no better.
  if (status >= 500 && status !== 501 && status !== 507) return "unknown";
  if (status < 400 || [401, 403, 405, 501, 507].includes(status)) return "refused";
  return isForeign || refusedCodes.has(document?.code ?? "") ? "refused" : "result";
}
