/** For tests: a queue with a store in memory, and files for it. */
import { FakeRecords, FakeTransport } from "./fake-transport.ts";
import type { UploadItem, UploadState } from "./upload-item.ts";
import { UploadQueue } from "./upload-queue.ts";

export const mib = 1024 * 1024;

/** For `vi.waitUntil()`. */
export const wait = { timeout: 20_000, interval: 5 };

/** Any digest serves that both sides use: MD5 is slow without a runtime's help. */
export async function digest(content: Blob): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-1", await content.arrayBuffer());
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const zero = (): number => 0;

export function setUpQueue(records = new FakeRecords(), transport = new FakeTransport(digest)) {
  const delays: number[] = [];
  const sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    delays.push(milliseconds);
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    signal?.throwIfAborted();
  };
  const queue = new UploadQueue({ transport, records, digest, sleep, random: zero, now: zero });
  const add = (...files: File[]): void =>
    queue.add(files.map((file) => ({ bucket: "b", key: file.name, file })));
  const items = (): UploadItem[] => Array.from(queue.items);
  const states = (): UploadState[] => items().map(({ state }) => state);
  /** The only item. */
  const item = (): UploadItem => items()[0] as UploadItem;
  return { queue, transport, records, delays, add, items, states, item };
}

export function small(name: string, text = name): File {
  return new File([text], name, { lastModified: 7 });
}

/** Three parts: two of 16 MiB, and one of a few bytes. */
export function large(name: string, fill = 1, lastModified = 7): File {
  const content = new Uint8Array(32 * mib + 5).fill(fill);
  for (let offset = 0; offset < content.length; offset += mib) content[offset] = offset / mib;
  return new File([content], name, { lastModified });
}

/** A promise that a test opens. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  return { opened, open };
}
