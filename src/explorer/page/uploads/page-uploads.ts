/** The queue of uploads of this tab. */
import { contentDigest } from "./content-digest.ts";
import { pageTransport } from "./page-transport.ts";
import { storedRecords } from "./stored-records.ts";
import { UploadQueue } from "./upload-queue.ts";
import { activeFiles, summarize } from "./upload-summary.ts";

export const uploads = new UploadQueue({
  transport: pageTransport,
  records: storedRecords,
  digest: contentDigest,
  sleep,
  random: Math.random,
  now: () => performance.now(),
});

// The browser asks the person before it closes the tab.
addEventListener("beforeunload", (event) => {
  const summary = summarize(uploads);
  const { paused, exists } = summary.counts;
  if (activeFiles(summary) + paused + exists > 0) event.preventDefault();
});

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
