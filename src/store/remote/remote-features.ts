/**
 * What an S3 service honours. Services differ, and some ignore a condition silently, so the probe
 * (`probe.ts`) tries each feature instead of asking for a version.
 */

/** What may not hold at an endpoint: the words of `accept` in the configuration. */
export const remoteGaps = [
  "conditional-put",
  "conditional-complete",
  "conditional-delete",
] as const;
export type RemoteGap = (typeof remoteGaps)[number];

export interface RemoteFeatures {
  /** How `If-Match` of a put names an entity tag; `null` when the service ignores it. */
  readonly putIfMatch: "quoted" | "unquoted" | null;
  /** `If-None-Match: *` of a put. */
  readonly putIfNoneMatch: boolean;
  readonly conditionalComplete: boolean;
  readonly conditionalDelete: boolean;
}

/** For a bucket that is only read, or that has one writer. */
export const noFeatures: RemoteFeatures = {
  putIfMatch: null,
  putIfNoneMatch: false,
  conditionalComplete: false,
  conditionalDelete: false,
};

/** What does not hold, in the order of `remoteGaps`. */
export function gapsOf(features: RemoteFeatures): RemoteGap[] {
  const holds: Readonly<Record<RemoteGap, boolean>> = {
    "conditional-put": features.putIfMatch !== null && features.putIfNoneMatch,
    "conditional-complete": features.conditionalComplete,
    "conditional-delete": features.conditionalDelete,
  };
  return remoteGaps.filter((gap) => !holds[gap]);
}
