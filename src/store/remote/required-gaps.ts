/** Whether a service suffices for a bucket, by what the probe has found. */
import { gapsOf, type RemoteFeatures, type RemoteGap } from "./remote-features.ts";
import type { RemotePlace } from "./remote-options.ts";
import { nameOf } from "./remote-sentences.ts";

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
