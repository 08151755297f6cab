import { describe, expect, it, vi } from "vitest";
import type { BlobDirectory } from "../client/blob-directory.ts";
import type { Operation } from "../core/operations.ts";
import { ArrivingFiles } from "./arriving-files.ts";

function put(key: string, blob: string, size = 5): Operation {
  const content = { blob, size, checksums: { md5: "" } };
  return { method: "put", key, content, http: {}, custom: {}, storageClass: "Standard" };
}

/** A disk whose answers a test gives. */
function newDisk() {
  const asked: ((sizes: (number | null)[]) => void)[] = [];
  const blobs = {
    bucketName: "photos",
    sizes: () => new Promise((resolve) => asked.push(resolve)),
  };
  return { asked, blobs: blobs as unknown as BlobDirectory };
}

/** Executes batches, and collects what happens. */
function newBatches(files: ArrivingFiles) {
  const events: string[] = [];
  const execute = async (key: string, ...operations: Operation[]): Promise<void> => {
    const run = (): void => {
      for (const operation of operations) {
        try {
          files.requireVerified(operation);
          events.push(`${key} committed`);
        } catch (error) {
          events.push((error as Error).message);
        }
      }
    };
    await files.executeVerified(operations, run, async () => events.push("problem"));
  };
  return { events, execute };
}

const missing =
  'Cannot store "a": file "1" is missing, metadata says 5 bytes. Nothing was stored. Put the object again.';

describe("ArrivingFiles", () => {
  it("lets no file be named that the collector removes when the file arrives", async () => {
    const { asked, blobs } = newDisk();
    const files = new ArrivingFiles(blobs, undefined);
    const { events, execute } = newBatches(files);
    const removal = Promise.withResolvers<void>();
    const removed = files.whileRemoving(files.unclaimed(["1"]), () => removal.promise);
    const executed = execute("a", put("a", "1"));
    // The disk has seen the file before it was removed.
    removal.resolve();
    await removed;
    asked[0]?.([5]);
    await executed;
    expect(events).toEqual(["problem", missing]);
  });

  it("claims a file from its arrival to its commit", async () => {
    const { asked, blobs } = newDisk();
    const files = new ArrivingFiles(blobs, undefined);
    const { events, execute } = newBatches(files);
    const executed = execute("a", put("a", "1"));
    expect(files.unclaimed(["1", "2"])).toEqual(["2"]);
    asked[0]?.([5]);
    await executed;
    expect(events).toEqual(["a committed"]);
    expect(files.unclaimed(["1", "2"])).toEqual(["1", "2"]);
  });

  it("executes the batches of a key in the order of their arrival, and others when they can be", async () => {
    const { asked, blobs } = newDisk();
    const { events, execute } = newBatches(new ArrivingFiles(blobs, undefined));
    const first = execute("first", put("a", "1"));
    const second = execute("second", put("a", "2"));
    const other = execute("other", put("b", "3"));
    asked[1]?.([5]);
    asked[2]?.([5]);
    await other;
    expect(events).toEqual(["other committed"]);
    asked[0]?.([5]);
    await Promise.all([first, second]);
    expect(events).toEqual(["other committed", "first committed", "second committed"]);
  });

  it("verifies batches that wait together, each with its own answer", async () => {
    const questions: { names: string[]; answer: (sizes: (number | null)[]) => void }[] = [];
    const sizes = (names: string[]) =>
      new Promise((answer) => questions.push({ names: [...names], answer }));
    const blobs = { bucketName: "photos", sizes } as unknown as BlobDirectory;
    const { events, execute } = newBatches(new ArrivingFiles(blobs, undefined));
    const letters = Array.from("bcdefga");
    const executed = letters.map((key, index) => execute(key, put(key, String(7 - index))));
    expect(questions.map(({ names }) => names)).toEqual([["7"], ["6"], ["5"], ["4"]]);
    questions[0]?.answer([5]);
    await executed[0];
    expect(questions[4]?.names).toEqual(["3", "2", "1"]);
    questions[4]?.answer([5, 5, null]);
    await executed[6];
    expect(events).toEqual(["b committed", "f committed", "g committed", "problem", missing]);
    for (const { answer } of questions) answer([5]);
    await Promise.all(executed);
  });

  it("lets no file be named that was not verified", () => {
    const files = new ArrivingFiles(newDisk().blobs, undefined);
    expect(() => files.requireVerified(put("a", "1"))).toThrow("its file was not verified");
    expect(() => files.requireVerified({ method: "head", key: "a" })).not.toThrow();
  });

  it("refuses a file that cannot be made durable, and says why", async () => {
    const service = { fetch: async () => new Response("EIO: i/o error", { status: 500 }) };
    const files = new ArrivingFiles(newDisk().blobs, service as unknown as Fetcher);
    const { events, execute } = newBatches(files);
    await execute("a", put("a", "1"));
    expect(events).toEqual([
      "problem",
      'Cannot store "a": its file cannot be made durable (EIO: i/o error). Nothing was stored.',
    ]);
  });

  it("asks again for a while when the process cannot be reached, and then refuses", async () => {
    vi.useFakeTimers();
    const asked: unknown[] = [];
    const fetch = (_url: string, { body }: RequestInit): Promise<Response> => {
      asked.push(body);
      return Promise.reject(new Error("connection refused"));
    };
    const files = new ArrivingFiles(newDisk().blobs, { fetch } as unknown as Fetcher);
    const { events, execute } = newBatches(files);
    const executed = execute("a", put("a", "1"), put("b", "2"));
    await vi.advanceTimersByTimeAsync(10_000);
    await executed;
    vi.useRealTimers();
    expect(asked.length).toBeGreaterThan(10);
    expect(new Set(asked)).toEqual(new Set(['["1","2"]']));
    expect(events).toHaveLength(3);
    expect(events[1]).toContain("the process that has started the runtime does not answer");
  });
});
