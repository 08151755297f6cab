/** The lines that a dev server prints when it is ready. */
import { shownPath } from "../config/config-file.ts";
import type { BucketBinding } from "../config/read-config.ts";

export interface DevSummary {
  readonly url: string;
  /** The address of the inspector; `null` without an inspector. */
  readonly inspector: string | null;
  readonly buckets: readonly BucketBinding[];
  /** The folder of the buckets. */
  readonly storeFolder: string;
  readonly storeLatencyMilliseconds: number;
  /** The lines of DNS. */
  readonly dns: readonly string[];
}

export function renderSummary(summary: DevSummary, workingFolder: string): string {
  const { url, inspector, buckets, storeFolder, storeLatencyMilliseconds: latency, dns } = summary;
  const width = Math.max(0, ...buckets.map(({ binding }) => binding.length));
  const delay = latency === 0 ? "" : `, each operation ${latency} ms late`;
  return [
    `Ready      ${url}`,
    ...(inspector === null ? [] : [`Inspector  ${inspector}`]),
    ...(buckets.length === 0
      ? []
      : [`Buckets    ${shownPath(storeFolder, workingFolder)}${delay}`]),
    ...buckets.map(
      ({ binding, bucketName, previewBucketName }) =>
        `  env.${binding.padEnd(width)}  ${previewBucketName ?? bucketName}`,
    ),
    ...dns.flatMap((text) => text.split("\n")),
  ].join("\n");
}
