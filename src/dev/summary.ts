/** The lines that a dev server prints when it is ready. */
import { shownPath } from "../config/config-file.ts";
import type { BucketBinding } from "../config/read-config.ts";

export interface DevSummary {
  readonly url: string;
  readonly buckets: readonly BucketBinding[];
  /** The folder of the buckets. */
  readonly storeFolder: string;
  readonly storeLatencyMilliseconds: number;
  /** The lines of DNS. */
  readonly dns: readonly string[];
}

export function renderSummary(summary: DevSummary, workingFolder: string): string {
  const { url, buckets, storeFolder, storeLatencyMilliseconds: latency, dns } = summary;
  const width = Math.max(0, ...buckets.map(({ binding }) => binding.length));
  const delay = latency === 0 ? "" : `, each operation ${latency} ms late`;
  return [
    `Ready      ${url}`,
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
