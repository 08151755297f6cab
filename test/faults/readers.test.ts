/**
 * Readers: a reader gets the version of the object that it has opened, whole, whatever happens to
 * the object meanwhile; a reader that stops leaves no file open and does not delay `dispose()`.
 */
import { basename, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { StoreBucket, StoreObjectBody } from "../../src/types/store.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { findRuntimeProcess, openFiles } from "../support/processes.ts";
import { blobFiles, isMark, startStore, temporaryFolder, type Store } from "../support/store.ts";
import { bucketEntry, worker } from "../support/worker.ts";
import { isLong } from "./support/seed.ts";
import { addSparseParts } from "./support/sparse-parts.ts";

const partBytes = 5 * 1024 * 1024;
const lastPartBytes = 200_000;
const size = 2 * partBytes + lastPartBytes;
const whole = bytesOf(size);
const isLinux = process.platform === "linux";

async function putInParts(bucket: StoreBucket, key: string): Promise<void> {
  const upload = await bucket.createMultipartUpload(key);
  const parts = [];
  for (let start = 0; start < size; start += partBytes) {
    const part = whole.subarray(start, start + partBytes);
    parts.push(await upload.uploadPart(parts.length + 1, part));
  }
  await upload.complete(parts);
}

const changes: Record<string, (bucket: StoreBucket) => Promise<unknown>> = {
  replace: (bucket) => bucket.put("key", "other"),
  replaceByParts: (bucket) => putInParts(bucket, "key"),
  delete: (bucket) => bucket.delete("key"),
};

/** How many blob files this process and the runtime have open. The search for garbage opens their folder and marks, too. */
function openBlobs(folder: string): number {
  const blobs = join(folder, "store", "blobs", "photos");
  const open = [process.pid, findRuntimeProcess(folder)].flatMap(openFiles);
  return open.filter((path) => path.startsWith(`${blobs}/`) && !isMark(basename(path))).length;
}

async function expectNoOpenBlobs(folder: string): Promise<void> {
  if (!isLinux) return;
  await vi.waitFor(() => expect(openBlobs(folder)).toBe(0), { timeout: 60_000 });
}

function bodyOf(object: StoreObjectBody | null): ReadableStream<Uint8Array> {
  if (object === null) throw new Error("The object does not exist");
  return object.body as ReadableStream<Uint8Array>;
}

/** Reads the first bytes, waits for `meanwhile`, and reads the rest. */
async function readAround(body: ReadableStream<Uint8Array>, meanwhile: () => Promise<unknown>) {
  const reader = body.getReader();
  const chunks = [(await reader.read()).value as Uint8Array];
  await meanwhile();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    chunks.push(value);
  }
}

/** A script that opens an object, reads a little, changes the object, and returns all bytes. */
const readingScript = `
  const changes = {
    replace: (bucket) => bucket.put("key", "other"),
    replaceByParts: async (bucket) => {
      const upload = await bucket.createMultipartUpload("key");
      await upload.complete([await upload.uploadPart(1, new Uint8Array(200000))]);
    },
    delete: (bucket) => bucket.delete("key"),
  };
  export default {
    async fetch(request, { BUCKET }) {
      const { body } = await BUCKET.get("key");
      const reader = body.getReader();
      const chunks = [(await reader.read()).value];
      await changes[await request.text()](BUCKET);
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return new Response(new Blob(chunks));
        chunks.push(value);
      }
    },
  };`;

/** Which process opens the files of a bucket in Node: this one, or the runtime with `verify_reads`. */
const places: [place: string, workers: ReturnType<typeof worker>[]][] = [false, true].map(
  (verify_reads) => [
    verify_reads ? "in the runtime" : "in Node",
    [
      worker("export default {};", {
        env: { BUCKET: bucketEntry({ bucket_name: "photos", verify_reads }) },
      }),
    ],
  ],
);

describe("a reader of an object in parts", () => {
  it("in Node reads its version when the object is replaced or deleted", async () => {
    const folder = temporaryFolder();
    const { bucket } = await startStore(folder);
    for (const change of Object.values(changes)) {
      await putInParts(bucket, "key");
      const opened = await bucket.get("key");
      const untouched = await bucket.get("key");
      const ranged = await bucket.get("key", { range: { offset: partBytes - 5, length: 10 } });

      const read = await readAround(bodyOf(opened), () => change(bucket));

      expect(sameBytes(read, whole)).toBe(true);
      expect(sameBytes(await untouched?.bytes(), whole)).toBe(true);
      expect(await ranged?.bytes()).toEqual(whole.slice(partBytes - 5, partBytes + 5));
    }
    await expectNoOpenBlobs(folder);
  });

  it("in a script reads its version when the object is replaced or deleted", async () => {
    const folder = temporaryFolder();
    const { bucket, miniflare } = await startStore(folder, [worker(readingScript)]);
    for (const body of Object.keys(changes)) {
      await putInParts(bucket, "key");
      const response = await miniflare.dispatchFetch("http://script/", { method: "POST", body });
      expect(response.status).toBe(200);
      expect(sameBytes(new Uint8Array(await response.arrayBuffer()), whole)).toBe(true);
    }
    await expectNoOpenBlobs(folder);
  });

  it("in another process reads its version when the object is deleted", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder);
    const client = await startStore(folder);
    await putInParts(owner.bucket, "key");
    const opened = await client.bucket.get("key");
    const read = await readAround(bodyOf(opened), () => owner.bucket.delete("key"));
    expect(sameBytes(read, whole)).toBe(true);
  });

  it.runIf(isLinux).each(places)("%s opens the files of its range", async (_, workers) => {
    const folder = temporaryFolder();
    const { bucket } = await startStore(folder, workers);
    await putInParts(bucket, "key");
    expect(blobFiles(folder)).toHaveLength(3);
    // The writer of a file may close the file after the answer.
    await expectNoOpenBlobs(folder);
    const ranged = await bucket.get("key", { range: { offset: 0, length: partBytes + 1 } });
    expect(openBlobs(folder)).toBe(2);
    const opened = await bucket.get("key");
    expect(openBlobs(folder)).toBe(5);
    await ranged?.body.cancel();
    const reader = bodyOf(opened).getReader();
    await reader.read();
    await reader.cancel();
    await expectNoOpenBlobs(folder);
  });

  it.runIf(isLinux).each(places)("%s closes an object whose key it lacks", async (_, workers) => {
    const folder = temporaryFolder();
    const { bucket } = await startStore(folder, workers);
    const encrypted: object = { ssecKey: "0f".repeat(32) };
    await bucket.put("key", whole, encrypted);
    for (let count = 0; count < 5; count++) {
      await expect(bucket.get("key")).rejects.toThrow("Server Side Encryption");
    }
    await expectNoOpenBlobs(folder);
    expect((await bucket.get("key", encrypted))?.size).toBe(size);
  });

  it.runIf(isLinux).each(places)(
    "%s opens thousands of files and closes them when it stops",
    { timeout: 600_000 },
    async (_, workers) => {
      const partCount = isLong ? 10_000 : 300;
      const folder = temporaryFolder();
      const first = await startStore(folder);
      await putInParts(first.bucket, "key");
      await first.stop();
      addSparseParts(folder, partCount, partBytes);

      const { bucket } = await startStore(folder, workers);
      const opened = await bucket.get("key");
      expect(opened?.size).toBe((partCount - 1) * partBytes + lastPartBytes);
      expect(openBlobs(folder)).toBe(partCount);
      await bucket.delete("key");
      expect(blobFiles(folder)).toEqual([]);
      const reader = bodyOf(opened).getReader();
      expect((await reader.read()).value?.subarray(0, 100)).toEqual(whole.slice(0, 100));
      await reader.cancel();
      await expectNoOpenBlobs(folder);
    },
  );
});

describe("dispose()", () => {
  /** Content above the inline limit, so that it is in a file. */
  const large = bytesOf(2 * 1024 * 1024);

  async function startWithObject(): Promise<Store> {
    const store = await startStore(temporaryFolder());
    await store.bucket.put("key", large, { customMetadata: { name: "value" } });
    return store;
  }

  it("ends while bodies are unread, and while a body is half read", async () => {
    const store = await startWithObject();
    const { bucket } = store;
    const kept = [];
    for (let n = 0; n < 20; n++) kept.push(await bucket.get("key"));
    expect(kept.map((object) => object?.customMetadata?.["name"])).toEqual(
      Array.from({ length: 20 }, () => "value"),
    );
    const reader = bodyOf(await bucket.get("key")).getReader();
    await reader.read();
    await store.stop();
    // The files of a body stay open, so the body can be read. A bucket that has ended takes no calls.
    expect(sameBytes(await kept[0]?.bytes(), large)).toBe(true);
    await expect(bucket.head("key")).rejects.toThrow("is closed");
  });
});

describe("a reader of one key that writers replace all the time", () => {
  it("reads one of the versions, whole, in Node and in a script", async () => {
    const script = `
      export default {
        async fetch(request, { BUCKET }) {
          const bytes = await (await BUCKET.get("key")).bytes();
          const isWhole = bytes.every((byte) => byte === bytes[0]);
          return Response.json({ size: bytes.length, isWhole });
        },
      };`;
    const folder = temporaryFolder();
    const { bucket, miniflare } = await startStore(folder, [worker(script)]);
    const valueBytes = 150_000;
    const writerCount = 6;
    const rounds = isLong ? 400 : 5;
    const value = (n: number) => new Uint8Array(valueBytes).fill(n);
    await bucket.put("key", value(0));
    const reading = new AbortController();
    const write = async (writer: number) => {
      for (let n = writer; !reading.signal.aborted; n += writerCount)
        await bucket.put("key", value(n % 256));
    };
    const writers = Array.from({ length: writerCount }, (_, writer) => write(writer));
    for (let round = 0; round < rounds; round++) {
      const response = await miniflare.dispatchFetch("http://script/");
      expect(await response.json()).toEqual({ size: valueBytes, isWhole: true });
      const bytes = await (await bucket.get("key"))?.bytes();
      expect(bytes?.length).toBe(valueBytes);
      expect(bytes?.every((byte) => byte === bytes[0])).toBe(true);
    }
    reading.abort();
    await Promise.all(writers);
    expect(blobFiles(folder)).toHaveLength(1);
    await expectNoOpenBlobs(folder);
  });
});
