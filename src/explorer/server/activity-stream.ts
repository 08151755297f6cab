/**
 * The activity as server-sent events. The events are collected for a short time, so that a flood of
 * requests is a small number of messages, and no faster than the browser reads (`send.ts`).
 */
import type { ActivityBatch } from "../api/activity.ts";
import type { ActivityLog } from "./activity-log.ts";

interface StreamOptions {
  /** The last id that the page has. */
  readonly after: number;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

const batchMilliseconds = 100;
/** A proxy or a browser may end a connection on which nothing happens. */
const heartbeatMilliseconds = 15_000;
/** How long the browser waits before it connects again. */
const retryMilliseconds = 1000;
/** A page that opens gets the last thousands of entries in several messages. */
const batchEntriesMax = 500;

export async function* activityStream(
  log: ActivityLog,
  { after, signal }: StreamOptions,
): AsyncGenerator<Uint8Array> {
  let last = after;
  let wake: (() => void) | undefined;
  const end = log.follow(() => wake?.());
  const abort = (): void => wake?.();
  signal.addEventListener("abort", abort);
  /** Resolves after a time, or at the end of the stream; `isEager`: or with the next entry. */
  const wait = (milliseconds: number, isEager: boolean): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake = () => {
        if (!isEager && !signal.aborted) return;
        clearTimeout(timer);
        resolve();
      };
      if (signal.aborted) wake();
    });
  try {
    yield encode(`retry: ${retryMilliseconds}\n\n`);
    while (!signal.aborted) {
      const { entries, dropped } = log.after(last);
      if (entries.length === 0) {
        const before = performance.now();
        await wait(heartbeatMilliseconds, true);
        if (performance.now() - before >= heartbeatMilliseconds) yield encode(":\n\n");
        continue;
      }
      const batch: ActivityBatch = { entries: entries.slice(0, batchEntriesMax), dropped };
      last = batch.entries.at(-1)?.id ?? last;
      yield encode(`id: ${last}\ndata: ${JSON.stringify(batch)}\n\n`);
      if (entries.length <= batchEntriesMax) await wait(batchMilliseconds, false);
    }
  } finally {
    signal.removeEventListener("abort", abort);
    end();
  }
}

function encode(text: string): Uint8Array {
  return Buffer.from(text);
}
