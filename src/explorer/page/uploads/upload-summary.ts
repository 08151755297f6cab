/** What the upload list shows of the queue: totals, and the rows that matter. */
import type { FinishedUploads } from "./finished-uploads.ts";
import type { UploadItem, UploadState } from "./upload-item.ts";

/** A list of 10,000 files stays smooth: the files that need a person come first, the rest is counted. */
const rowsMax = 30;

/** Lower ranks are shown first. */
const ranks: Readonly<Record<UploadState, number>> = {
  exists: 0,
  failed: 0,
  differs: 0,
  gone: 0,
  "without file": 0,
  checking: 1,
  uploading: 1,
  cancelling: 1,
  paused: 2,
  queued: 3,
  done: 4,
};

export interface UploadSummary {
  readonly rows: readonly UploadItem[];
  /** How many items are not in the rows. */
  readonly hidden: number;
  readonly counts: Readonly<Record<UploadState, number>>;
  /** All files: done, and in the queue. */
  readonly files: number;
  readonly doneFiles: number;
  readonly skippedFiles: number;
  readonly bytes: number;
  readonly sentBytes: number;
  readonly isAway: boolean;
  readonly bytesPerSecond: number | null;
}

interface QueueState {
  readonly items: Iterable<UploadItem>;
  readonly finished: FinishedUploads;
  readonly isAway: boolean;
  readonly bytesPerSecond: number | null;
}

export function summarize({ items, finished, isAway, bytesPerSecond }: QueueState): UploadSummary {
  const counts = Object.fromEntries(Object.keys(ranks).map((state) => [state, 0])) as Record<
    UploadState,
    number
  >;
  const byRank: UploadItem[][] = [[], [], [], [], []];
  let { bytes, bytes: sentBytes } = finished;
  let files = finished.files;
  for (const item of items) {
    counts[item.state]++;
    files++;
    bytes += item.size;
    sentBytes += item.sentBytes;
    byRank[ranks[item.state]]?.push(item);
  }
  const rows = byRank.flatMap((some) => some.slice(0, rowsMax)).slice(0, rowsMax);
  return {
    rows: [...rows, ...finished.recent],
    hidden: files - finished.files - rows.length,
    counts,
    files,
    doneFiles: finished.files,
    skippedFiles: finished.skipped,
    bytes,
    sentBytes,
    isAway,
    bytesPerSecond,
  };
}

/** How many files the queue works on, or would without a pause. */
export function activeFiles({ counts }: Pick<UploadSummary, "counts">): number {
  const { queued, checking, uploading, cancelling } = counts;
  return queued + checking + uploading + cancelling;
}

/** How many files wait for a person. */
export function waitingFiles({ counts }: Pick<UploadSummary, "counts">): number {
  return counts.exists + counts.differs + counts.gone + counts["without file"];
}

export function countedFiles(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "file" : "files"}`;
}

/** For screen readers: changes with what happens, not with each percent. */
export function announce(summary: UploadSummary): string {
  const { counts, files, doneFiles, isAway } = summary;
  if (files === 0) return "";
  const waiting = waitingFiles(summary);
  const notes = [
    waiting > 0 && `${countedFiles(waiting)} ${waiting === 1 ? "waits" : "wait"} for you`,
    counts.failed > 0 && `${countedFiles(counts.failed)} failed`,
    counts.paused > 0 && `${countedFiles(counts.paused)} paused`,
  ].filter((note) => note !== false);
  const head = isAway
    ? "Uploads wait for the explorer, which does not answer"
    : activeFiles(summary) > 0
      ? `Uploading ${countedFiles(files)}`
      : `${countedFiles(doneFiles)} uploaded`;
  return `${[head, ...notes].join(". ")}.`;
}
