/** Files that have left the queue since the queue was last empty. */
import type { UploadItem } from "./upload-item.ts";

export interface FinishedUploads {
  readonly files: number;
  readonly bytes: number;
  readonly skipped: number;
  /** The last files that are done, the newest first. */
  readonly recent: readonly UploadItem[];
}

const recentMax = 3;

export const noneFinished: FinishedUploads = { files: 0, bytes: 0, skipped: 0, recent: [] };

export function withDone(finished: FinishedUploads, item: UploadItem): FinishedUploads {
  return {
    ...finished,
    files: finished.files + 1,
    bytes: finished.bytes + item.size,
    recent: [item, ...finished.recent].slice(0, recentMax),
  };
}

export function withSkipped(finished: FinishedUploads): FinishedUploads {
  return { ...finished, skipped: finished.skipped + 1 };
}
