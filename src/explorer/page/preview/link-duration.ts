/** How long a presigned link works. */
export interface LinkDuration {
  readonly label: string;
  readonly seconds: number;
}

const hour = 60 * 60;

/** The last is the longest that a signature allows: S3's limit of `X-Amz-Expires`. */
export const linkDurations: readonly [LinkDuration, ...LinkDuration[]] = [
  { label: "1 hour", seconds: hour },
  { label: "1 day", seconds: 24 * hour },
  { label: "7 days", seconds: 7 * 24 * hour },
];

/** The duration that a form names; the first for a value that the form does not have. */
export function linkDurationOf(seconds: string): LinkDuration {
  return linkDurations.find((duration) => String(duration.seconds) === seconds) ?? linkDurations[0];
}
