import { describe, expect, it, vi } from "vitest";
import { ApiCallError } from "../api-client.ts";
import { digest, gate, large, setUpQueue, wait } from "./queue-fixture.ts";

const until = vi.waitUntil;

/** A page that is closed after two of three parts, and the page that is opened then. */
async function reload() {
  const before = setUpQueue();
  const { opened } = gate();
  before.transport.before = (_call, partNumber) => (partNumber === 2 ? opened : undefined);
  before.add(large("disk.img"));
  await until(() => before.item().multipart?.parts.size === 2, wait);
  before.transport.before = () => {};
  before.transport.calls.length = 0;
  const after = setUpQueue(before.records, before.transport);
  return after;
}

describe("UploadQueue.restore()", () => {
  it("asks for the file, and continues with the missing parts", async () => {
    const { queue, transport, records, item, states } = await reload();
    await queue.restore();
    expect(states()).toEqual(["without file"]);
    expect(item()).toMatchObject({
      name: "disk.img",
      key: "disk.img",
      sentBytes: 16 * 2 ** 20 + 5,
    });
    const file = large("disk.img");
    queue.choose(item().id, file);
    await until(() => queue.finished.files === 1, wait);
    expect(transport.calls.filter((call) => call.startsWith("putPart"))).toEqual(["putPart 2"]);
    expect(await digest(transport.objects.get("disk.img")?.content as Blob)).toBe(
      await digest(file),
    );
    expect(records.all()).toEqual([]);
  });

  it("recognises the file when it is dropped again", async () => {
    const { queue, transport, add } = await reload();
    await queue.restore();
    add(large("disk.img"));
    await until(() => queue.finished.files === 1, wait);
    expect(transport.calls.filter((call) => call.startsWith("putPart"))).toEqual(["putPart 2"]);
    expect(transport.calls).not.toContain("createUpload");
  });

  it("does not take a file in another folder for the same upload", async () => {
    const { queue, items } = await reload();
    await queue.restore();
    const file = large("disk.img");
    queue.add([{ bucket: "b", key: "copies/disk.img", file }]);
    await until(() => queue.finished.files === 1, wait);
    expect(items().map(({ key, state }) => [key, state])).toEqual([["disk.img", "without file"]]);
  });

  it("refuses a file with other content, and can start again with that file", async () => {
    const { queue, transport, item, states } = await reload();
    await queue.restore();
    const other = large("disk.img", 2);
    queue.choose(item().id, other);
    await until(() => states()[0] === "differs", wait);
    expect(item().message).toContain("other content");
    expect(transport.calls.some((call) => call.startsWith("putPart"))).toBe(false);
    await queue.startAgain(item().id);
    await until(() => queue.finished.files === 1, wait);
    expect(transport.uploads.size).toBe(0);
    expect(await digest(transport.objects.get("disk.img")?.content as Blob)).toBe(
      await digest(other),
    );
  });

  it("refuses a file of another time, and then takes the right file", async () => {
    const { queue, item, states } = await reload();
    await queue.restore();
    queue.choose(item().id, large("disk.img", 1, 8));
    expect(states()).toEqual(["differs"]);
    expect(item().message).toContain("another time");
    queue.choose(item().id, large("disk.img"));
    await until(() => queue.finished.files === 1, wait);
  });

  it("says that the upload is gone, and then uploads from the start", async () => {
    const { queue, transport, records, item, states } = await reload();
    transport.uploads.clear();
    await queue.restore();
    expect(states()).toEqual(["gone"]);
    expect(records.all()).toEqual([]);
    queue.choose(item().id, large("disk.img"));
    await until(() => queue.finished.files === 1, wait);
    expect(transport.calls.filter((call) => call.startsWith("putPart"))).toHaveLength(3);
  });

  it("aborts an upload of an earlier visit", async () => {
    const { queue, transport, item, states } = await reload();
    await queue.restore();
    await queue.cancelUpload(item().multipart?.uploadId as string);
    expect(states()).toEqual([]);
    expect(transport.uploads.size).toBe(0);
  });

  it("leaves the uploads of other projects and of other tabs alone", async () => {
    const { queue, transport, records, states } = await reload();
    transport.projectName = "another";
    await queue.restore();
    expect(states()).toEqual([]);
    transport.projectName = "photos";
    records.claim = () => Promise.resolve(false);
    await queue.restore();
    expect(states()).toEqual([]);
    expect(records.all()).toHaveLength(1);
  });

  it("waits for an explorer that does not answer yet", async () => {
    const { queue, transport, delays, states } = await reload();
    transport.before = () => {
      if (delays.length < 5) throw new ApiCallError(0, "no answer");
    };
    await queue.restore();
    expect(states()).toEqual(["without file"]);
  });
});
