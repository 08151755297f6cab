/** What a service does not hold, as sentences: what was seen, what that means for the data, and what to change. */
import { gapsOf, type RemoteFeatures, type RemoteGap, type RemotePlace } from "./remote-options.ts";
import { nameOf } from "./remote-sentences.ts";
import { RemoteError } from "./s3-transport.ts";

const meanings: Readonly<Record<RemoteGap, string>> = {
  "conditional-put": "Two writers can overwrite each other, and both are told that they succeeded.",
  "conditional-complete":
    "A completed upload can overwrite what another writer has stored meanwhile, and a completion with a condition is refused.",
  "conditional-delete":
    "A delete can be acknowledged beside a put that it contradicts, and a delete with a condition is refused.",
};

/** Deletes without a condition hold. */
const conditionalDeleteOnly =
  "A delete with a condition is refused, and a move copies only. Deletes without a condition are not affected.";

function meaningOf(gap: RemoteGap, features: RemoteFeatures): string {
  const isMinor = gap === "conditional-delete" && features.unconditionalDelete;
  return isMinor ? conditionalDeleteOnly : meanings[gap];
}

function describeGap(gap: RemoteGap, features: RemoteFeatures): string {
  return `${gap}: ${features.seen[gap] ?? "not asked"}. ${meaningOf(gap, features)}`;
}

/** The gaps that the configuration accepts, or that buckets can do without. */
export function describeGaps(features: RemoteFeatures): string[] {
  return gapsOf(features).map((gap) => describeGap(gap, features));
}

/** A gap that buckets can do without is none that must be accepted: nothing that they do depends on it. */
function isRequired(gap: RemoteGap, features: RemoteFeatures): boolean {
  return gap !== "conditional-delete" || !features.unconditionalDelete;
}

/**
 * Refuses a service that does not hold what a bucket needs, unless the configuration accepts the gap.
 *
 * @throws RemoteError with a sentence for each gap
 */
export function requireFeatures(
  place: RemotePlace,
  features: RemoteFeatures,
  accept: readonly RemoteGap[],
): void {
  const missing = gapsOf(features).filter(
    (gap) => isRequired(gap, features) && !accept.includes(gap),
  );
  if (missing.length === 0) return;
  const { versioning } = features.service;
  const hasVersions = versioning === "enabled" || versioning === "suspended";
  const advice = hasVersions
    ? `The bucket "${place.bucketName}" has versions (${versioning}): use a bucket without versions`
    : "Use another version of the service";
  const sentences = missing.map((gap) => `lacks ${describeGap(gap, features)}`);
  const list = missing.map((gap) => `"${gap}"`).join(", ");
  throw new RemoteError(
    "refused",
    `${nameOf(place)} ${sentences.join("\nIt ")} ` +
      `${advice}, or write accept = [${list}] in [remotes.${place.remote}] if one program at a time writes.`,
  );
}

/** What was found about a service, in lines. */
export function describeService(place: RemotePlace, features: RemoteFeatures): string[] {
  const { server, versioning } = features.service;
  return [
    `${place.remote}, bucket "${place.bucketName}": ${server === "" ? place.endpoint : server}, versions ${versioning}`,
    ...describeGaps(features).map((gap) => `  lacks ${gap}`),
  ];
}
