/** What a dev server says when it is ready: one block, with all there is to know. */
import { relative } from "node:path";
import type { BucketBinding } from "../config/read-config.ts";

export interface DevSummary {
  readonly url: string;
  readonly buckets: readonly BucketBinding[];
  /** Where the buckets are kept. */
  readonly storeFolder: string;
  readonly storeLatencyMilliseconds: number;
  /** What DNS says of itself. */
  readonly dns: readonly string[];
}

export function renderSummary(summary: DevSummary, workingFolder: string): string {
  const { url, buckets, storeFolder, storeLatencyMilliseconds: latency, dns } = summary;
  const width = Math.max(0, ...buckets.map(({ binding }) => binding.length));
  const late = latency === 0 ? "" : `, each operation ${latency} ms late`;
  return [
    `Ready      ${url}`,
    ...(buckets.length === 0 ? [] : [`Buckets    ${shown(storeFolder, workingFolder)}${late}`]),
    ...buckets.map(
      ({ binding, bucketName, previewBucketName }) =>
        `  env.${binding.padEnd(width)}  ${previewBucketName ?? bucketName}`,
    ),
    ...dns.flatMap((text) => text.split("\n")),
  ].join("\n");
}

/** A folder inside of the working one is shorter without it. */
function shown(folder: string, workingFolder: string): string {
  const short = relative(workingFolder, folder);
  return short === "" || short.startsWith("..") ? folder : short;
}
