/** The lines that a dev server prints when it is ready. */
import { relative } from "node:path";
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
      : [`Buckets    ${shownFolder(storeFolder, workingFolder)}${delay}`]),
    ...buckets.map(
      ({ binding, bucketName, previewBucketName }) =>
        `  env.${binding.padEnd(width)}  ${previewBucketName ?? bucketName}`,
    ),
    ...dns.flatMap((text) => text.split("\n")),
  ].join("\n");
}

/** A folder below the working folder is shown as a relative path. */
function shownFolder(folder: string, workingFolder: string): string {
  const short = relative(workingFolder, folder);
  return short === "" || short.startsWith("..") ? folder : short;
}
