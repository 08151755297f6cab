/** What a row of the upload list says. */
import { formatBytes } from "../../../base/format.ts";
import { transferTimeText } from "./time-left.ts";
import { secondsLeft } from "./transfer-rate.ts";
import type { UploadItem } from "./upload-item.ts";
import type { UploadSummary } from "./upload-summary.ts";

type ShownItem = Pick<UploadItem, "state" | "message" | "key" | "size" | "sentBytes">;

export function statusText(
  item: ShownItem,
  { isAway, bytesPerSecond }: { readonly isAway: boolean; readonly bytesPerSecond: number | null },
): string {
  const { state, message, key, size, sentBytes } = item;
  switch (state) {
    case "queued":
      return `Waiting, ${formatBytes(size)}`;
    case "checking":
      return "Comparing the file with the parts that were uploaded…";
    case "uploading":
      return [
        isAway
          ? "Waiting for the explorer, which does not answer"
          : transferText({ bytes: size, sentBytes, bytesPerSecond }),
        message,
      ]
        .filter((text) => text !== null)
        .join(". ");
    case "paused":
      return `Paused at ${formatBytes(sentBytes)} of ${formatBytes(size)}`;
    case "exists":
      return `The bucket has an object with the key “${key}” already.`;
    case "failed":
      return `Failed: ${message}`;
    case "without file":
      return `${percent(sentBytes, size)} % uploaded; choose the file again to go on.`;
    case "differs":
      return `${message} Choose the same file again, or start again with this file.`;
    case "gone":
      return (
        "The store does not have this upload any more: it has expired, or was aborted. " +
        "Choose the file to upload it from the start."
      );
    case "cancelling":
      return "Cancelling…";
    case "done":
      return ["Uploaded", formatBytes(size), message].filter((text) => text !== null).join(", ");
  }
}

/** Bytes, rate and time left of a file or of all files. */
export function transferText({
  bytes,
  sentBytes,
  bytesPerSecond,
}: Pick<UploadSummary, "bytes" | "sentBytes" | "bytesPerSecond">): string {
  const seconds = secondsLeft(bytes - sentBytes, bytesPerSecond);
  return [
    `${formatBytes(sentBytes)} of ${formatBytes(bytes)}`,
    ...(seconds === null || bytesPerSecond === null
      ? []
      : [`${formatBytes(Math.round(bytesPerSecond))}/s`, transferTimeText(seconds)]),
  ].join(" · ");
}

/** Rounded down: 100 is said of a file that has been sent. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.floor((part / whole) * 100);
}
