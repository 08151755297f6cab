/** A write that is refused or fails leaves no row and no file. */
import { describe, expect, it } from "vitest";
import { bytesOf } from "../support/bytes.ts";
import { blobFiles, shareStore, startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";
import type { StoreBucket } from "../../src/types/store.ts";

const wrongHash = "0".repeat(64);
const large = bytesOf(200_000);

/** A stream that fails after `bytes` bytes. */
function failingStream(bytes: number): ReadableStream {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= bytes) return controller.error(new RangeError("the source broke"));
      sent += 65_536;
      controller.enqueue(bytesOf(65_536, sent));
    },
  });
}

const refused: [name: string, write: (bucket: StoreBucket) => Promise<unknown>, error: RegExp][] = [
  [
    "a wrong sha256",
    (bucket) => bucket.put("key", large, { sha256: wrongHash }),
    /^put: The SHA-256 checksum you specified did not match.*\(10037\)$/s,
  ],
  [
    "a wrong sha256 of a stream",
    (bucket) => bucket.put("key", new Blob([large]).stream(), { sha256: wrongHash }),
    /\(10037\)$/,
  ],
  [
    "a wrong sha256 of a small value",
    (bucket) => bucket.put("key", "x", { sha256: wrongHash }),
    /\(10037\)$/,
  ],
  ["an oversized key", (bucket) => bucket.put("k".repeat(1025), large), /\(10020\)$/],
  [
    "9 KiB of metadata",
    (bucket) => bucket.put("key", large, { customMetadata: { text: "m".repeat(9216) } }),
    /\(10012\)$/,
  ],
  [
    "9 KiB of HTTP metadata",
    (bucket) => bucket.put("key", large, { httpMetadata: { contentType: "m".repeat(9216) } }),
    /\(10012\)$/,
  ],
  [
    "a stream that fails",
    (bucket) => bucket.put("key", failingStream(500_000)),
    /the source broke/,
  ],
  [
    "a part of an unknown upload",
    (bucket) => bucket.resumeMultipartUpload("key", "none").uploadPart(1, large),
    /^uploadPart: .* \(10024\)$/,
  ],
];

const store = shareStore();

describe("a refused write", () => {
  it.each(refused)("leaves nothing behind: %s", async (_, write, error) => {
    const { bucket, folder } = store();
    const kept = await bucket.put("key", bytesOf(150_000, 2));
    const before = blobFiles(folder);

    await expect(write(bucket)).rejects.toThrow(error);

    expect(blobFiles(folder)).toEqual(before);
    expect((await bucket.head("key"))?.version).toBe(kept.version);
    expect((await bucket.list()).objects).toHaveLength(1);
  });

  it("leaves nothing behind: a failed condition", async () => {
    const { bucket, folder } = store();
    const kept = await bucket.put("key", bytesOf(150_000, 2));
    const before = blobFiles(folder);

    const onlyIf = { etagDoesNotMatch: "*" };
    expect(await bucket.put("key", large, { onlyIf })).toBeNull();
    expect(await bucket.put("key", new Blob([large]).stream(), { onlyIf })).toBeNull();

    expect(blobFiles(folder)).toEqual(before);
    expect((await bucket.head("key"))?.version).toBe(kept.version);
  });

  it("leaves nothing behind: a script whose stream ends short or fails halfway", async () => {
    const script = `
      export default {
        async fetch(request, { BUCKET }) {
          const put = async (end) => {
            const { readable, writable } = new FixedLengthStream(400000);
            const writer = writable.getWriter();
            const writing = (async () => {
              await writer.write(new Uint8Array(300000));
              await end(writer);
            })().catch(() => {});
            const error = await BUCKET.put("key", readable).then(() => null, (error) => error);
            await writing;
            return [error?.constructor.name, error?.message];
          };
          return Response.json([
            await put((writer) => writer.close()),
            await put((writer) => writer.abort(new RangeError("halfway"))),
            await BUCKET.head("key"),
          ]);
        },
      };`;
    const folder = temporaryFolder();
    const { miniflare } = await startStore(folder, [worker(script)]);

    const response = await miniflare.dispatchFetch("http://script/");

    expect(await response.json()).toEqual([
      ["TypeError", "FixedLengthStream did not see all expected bytes before close()."],
      ["RangeError", "halfway"],
      null,
    ]);
    expect(blobFiles(folder)).toEqual([]);
  });
});

describe("unused content", () => {
  it("is removed before the promise resolves: replaced, deleted, aborted, not completed", async () => {
    const { bucket, folder } = store();
    const part = bytesOf(5 * 1024 * 1024);

    await bucket.put("key", large);
    await bucket.put("key", bytesOf(200_000, 3));
    expect(blobFiles(folder)).toHaveLength(1);
    await bucket.put("key", "small");
    expect(blobFiles(folder)).toEqual([]);

    const upload = await bucket.createMultipartUpload("key");
    await upload.uploadPart(1, large);
    const kept = await upload.uploadPart(1, part);
    await upload.uploadPart(2, large);
    expect(blobFiles(folder)).toHaveLength(2);
    await upload.complete([kept]);
    expect(blobFiles(folder)).toHaveLength(1);

    const aborted = await bucket.createMultipartUpload("other");
    await aborted.uploadPart(1, large);
    await aborted.abort();
    await bucket.delete("key");
    expect(blobFiles(folder)).toEqual([]);
  });
});
