import { describe, expect, it, vi } from "vitest";
import { ApiCallError } from "../api-client.ts";
import { digest, gate, large, mib, setUpQueue as setUp, small, wait } from "./queue-fixture.ts";

const until = vi.waitUntil;
const unanswered = () => new ApiCallError(0, "no answer");

describe("UploadQueue", () => {
  it("uploads small files by one request, with their content types", async () => {
    const { queue, transport, add } = setUp();
    add(small("a.md"), small("empty", ""));
    await until(() => queue.finished.files === 2, wait);
    expect(transport.calls).toEqual(["putObject", "putObject"]);
    expect(await transport.objects.get("a.md")?.content.text()).toBe("a.md");
    expect(transport.objects.get("a.md")?.contentType).toBe("text/markdown");
    expect(queue.finished.bytes).toBe(4);
  });

  it("uploads a large file in parts, byte for byte", async () => {
    const { queue, transport, records, add } = setUp();
    const file = large("disk.img");
    add(file);
    await until(() => queue.finished.files === 1, wait);
    const stored = transport.objects.get("disk.img")?.content as Blob;
    expect(await digest(stored)).toBe(await digest(file));
    expect(transport.calls.filter((call) => call.startsWith("putPart"))).toHaveLength(3);
    expect(records.all()).toEqual([]);
  });

  it("sends three files at once and four requests in all, in the order of arrival", async () => {
    const { queue, transport, add, states } = setUp();
    const { opened, open } = gate();
    transport.before = (call) => (call.startsWith("put") ? opened : undefined);
    add(large("1"), large("2"), large("3"), small("4"));
    await until(() => transport.sending === 4, wait);
    expect(states()).toEqual(["uploading", "uploading", "uploading", "queued"]);
    open();
    await until(() => queue.finished.files === 4, wait);
    expect(transport.mostSending).toBe(4);
  });

  it("repeats a part five times with growing delays, fails, and then sends only the missing part", async () => {
    const { queue, transport, delays, add, item, states } = setUp();
    transport.before = (_call, partNumber) => {
      if (partNumber === 2) throw new ApiCallError(500, "An error of the store.");
    };
    add(large("a"));
    await until(() => states()[0] === "failed", wait);
    expect(item().message).toBe("An error of the store.");
    expect(delays).toEqual([250, 500, 1000, 2000]);
    expect(transport.calls.filter((call) => call === "putPart 2")).toHaveLength(5);
    transport.before = () => {};
    transport.calls.length = 0;
    queue.resume(item().id);
    await until(() => queue.finished.files === 1, wait);
    const sent = transport.calls.filter((call) => call.startsWith("putPart"));
    expect(sent).toContain("putPart 2");
    expect(sent).not.toContain("putPart 1");
  });

  it("does not repeat a call that the store refuses", async () => {
    const { transport, delays, add, item, states } = setUp();
    transport.before = (call) => {
      if (call === "putObject") throw new ApiCallError(400, "The key is too long.");
    };
    add(small("a"));
    await until(() => states()[0] === "failed", wait);
    expect(item().message).toBe("The key is too long.");
    expect(delays).toEqual([]);
  });

  it("waits for an explorer that goes away, and continues when it is back", async () => {
    const { queue, transport, delays, add, states } = setUp();
    let isAway = true;
    transport.before = () => {
      if (isAway) throw unanswered();
    };
    add(small("a"));
    await until(() => queue.isAway && delays.length > 10, wait);
    expect(states()).toEqual(["uploading"]);
    isAway = false;
    await until(() => queue.finished.files === 1, wait);
    expect(queue.isAway).toBe(false);
  });

  it("can pause and cancel while the explorer is away", async () => {
    const { queue, transport, add, item, states } = setUp();
    transport.before = () => {
      throw unanswered();
    };
    add(small("a"));
    await until(() => queue.isAway, wait);
    queue.pause(item().id);
    expect(states()).toEqual(["paused"]);
    await queue.cancel(item().id);
    expect(states()).toEqual([]);
    transport.before = () => {};
    await until(() => !queue.isAway, wait);
  });

  it("pauses in the middle, and continues with the missing parts", async () => {
    const { queue, transport, add, item, states } = setUp();
    const { opened, open } = gate();
    transport.before = (_call, partNumber) => (partNumber === 2 ? opened : undefined);
    const file = large("a");
    add(file);
    await until(() => item().multipart?.parts.size === 2, wait);
    queue.pause(item().id);
    open();
    expect(states()).toEqual(["paused"]);
    transport.calls.length = 0;
    queue.resume(item().id);
    await until(() => queue.finished.files === 1, wait);
    expect(transport.calls.filter((call) => call.startsWith("putPart"))).toEqual(["putPart 2"]);
    expect(await digest(transport.objects.get("a")?.content as Blob)).toBe(await digest(file));
  });

  it("aborts the upload in parts when the person cancels", async () => {
    const { queue, transport, records, add, item, states } = setUp();
    const { opened, open } = gate();
    transport.before = (_call, partNumber) => (partNumber === 2 ? opened : undefined);
    add(large("a"));
    await until(() => item().multipart?.parts.size === 2, wait);
    expect(transport.uploads.size).toBe(1);
    const cancelled = queue.cancel(item().id);
    open();
    await cancelled;
    expect(states()).toEqual([]);
    expect(transport.uploads.size).toBe(0);
    expect(records.all()).toEqual([]);
  });

  it("says that an abort failed, and tries only the abort again", async () => {
    const { queue, transport, add, item, states } = setUp();
    transport.before = (call, partNumber) => {
      if (partNumber !== undefined) throw new ApiCallError(400, "refused");
      if (call === "abortUpload") throw new ApiCallError(403, "not now");
    };
    add(large("a"));
    await until(() => states()[0] === "failed", wait);
    await queue.cancel(item().id);
    expect(item()).toMatchObject({ state: "failed", message: "not now" });
    transport.before = () => {};
    queue.resume(item().id);
    await until(() => states().length === 0, wait);
    expect(transport.objects.size).toBe(0);
    expect(transport.uploads.size).toBe(0);
  });

  it("tells the listeners which files are done", async () => {
    const { queue, add } = setUp();
    const done: string[] = [];
    const stop = queue.subscribeDone(({ key }) => done.push(key));
    add(small("a"));
    await until(() => done.length === 1, wait);
    stop();
    add(small("b"));
    await until(() => queue.finished.recent[0]?.key === "b", wait);
    expect(done).toEqual(["a"]);
  });

  it("starts from the beginning when the store does not have the upload any more", async () => {
    const { queue, transport, add, item } = setUp();
    const { opened, open } = gate();
    transport.before = (_call, partNumber) => (partNumber === 2 ? opened : undefined);
    add(large("a"));
    await until(() => item().multipart?.parts.size === 2, wait);
    transport.uploads.clear();
    open();
    await until(() => queue.finished.files === 1, wait);
    expect(queue.finished.recent[0]?.message).toContain("from the start");
    expect(transport.objects.get("a")?.content.size).toBe(32 * mib + 5);
  });

  it("takes an upload as done whose completion succeeded without a response", async () => {
    const { queue, transport, add } = setUp();
    let isLost = true;
    transport.after = (call) => {
      if (call !== "completeUpload" || !isLost) return;
      isLost = false;
      throw unanswered();
    };
    add(large("a"));
    await until(() => queue.finished.files === 1, wait);
    expect(transport.calls.filter((call) => call === "completeUpload")).toHaveLength(2);
    expect(transport.calls.filter((call) => call === "createUpload")).toHaveLength(1);
  });

  it("takes a small file as done that the store has from an attempt without a response", async () => {
    const { queue, transport, add } = setUp();
    let isLost = true;
    transport.after = (call) => {
      if (call !== "putObject" || !isLost) return;
      isLost = false;
      throw unanswered();
    };
    add(small("a"));
    await until(() => queue.finished.files === 1, wait);
    expect(transport.calls.filter((call) => call === "putObject")).toHaveLength(2);
  });

  it("says that a file cannot be read any more", async () => {
    const { transport, add, item, states } = setUp();
    transport.before = (call) => {
      if (call === "putObject") throw unanswered();
    };
    const file = small("a");
    file.slice = () => {
      throw new DOMException("changed", "NotReadableError");
    };
    add(file);
    await until(() => states()[0] === "failed", wait);
    expect(item().message).toContain("cannot read the file");
  });
});

describe("UploadQueue.answer()", () => {
  it("asks before an object is replaced, and replaces it", async () => {
    const { queue, transport, add, item, states } = setUp();
    add(small("a", "old"));
    await until(() => queue.finished.files === 1, wait);
    add(small("a", "new"));
    await until(() => states()[0] === "exists", wait);
    expect(await transport.objects.get("a")?.content.text()).toBe("old");
    queue.answer(item().id, "replace", false);
    await until(() => queue.finished.files === 1 && states().length === 0, wait);
    expect(await transport.objects.get("a")?.content.text()).toBe("new");
  });

  it("keeps both under the first free name", async () => {
    const { queue, transport, add, item, states } = setUp();
    const content = new Blob(["old"]);
    for (const key of ["a.txt", "a (2).txt"]) transport.objects.set(key, { content, etag: "x" });
    add(small("a.txt", "new"));
    await until(() => states()[0] === "exists", wait);
    queue.answer(item().id, "keep both", false);
    await until(() => queue.finished.files === 1, wait);
    expect(await transport.objects.get("a (3).txt")?.content.text()).toBe("new");
    expect(await transport.objects.get("a.txt")?.content.text()).toBe("old");
  });

  it("skips all that exist now and later, until the queue is empty", async () => {
    const { queue, transport, add, item, states } = setUp();
    const content = new Blob(["old"]);
    for (const key of ["1", "2", "3", "4", "5"]) transport.objects.set(key, { content, etag: "x" });
    const { opened, open } = gate();
    const sent = () => transport.calls.filter((call) => call === "putObject").length;
    transport.before = () => (sent() > 3 ? opened : undefined);
    add(small("1"), small("2"), small("3"), small("4"), small("5"), small("6"));
    await until(
      () =>
        states()
          .slice(0, 3)
          .every((state) => state === "exists"),
      wait,
    );
    queue.answer(item().id, "skip", true);
    open();
    await until(() => states().length === 0, wait);
    expect(queue.finished).toMatchObject({ files: 1, skipped: 5 });
    add(small("1"));
    await until(() => states()[0] === "exists", wait);
  });

  it("asks for a large file before its bytes are sent", async () => {
    const { queue, transport, add, item, states } = setUp();
    transport.objects.set("a", { content: new Blob(["old"]), etag: "x" });
    add(large("a"));
    await until(() => states()[0] === "exists", wait);
    expect(transport.calls).toEqual(["findObject"]);
    queue.answer(item().id, "replace", false);
    await until(() => queue.finished.files === 1, wait);
    expect(transport.objects.get("a")?.content.size).toBe(32 * mib + 5);
  });

  it("asks for a large file whose key was taken while its parts were sent", async () => {
    const { queue, transport, add, item, states } = setUp();
    transport.before = (call) => {
      if (call !== "completeUpload" || transport.objects.has("a")) return;
      transport.objects.set("a", { content: new Blob(["other"]), etag: "x" });
    };
    add(large("a"));
    await until(() => states()[0] === "exists", wait);
    queue.answer(item().id, "keep both", false);
    await until(() => queue.finished.files === 1, wait);
    expect(transport.objects.get("a (2)")?.content.size).toBe(32 * mib + 5);
    expect(await transport.objects.get("a")?.content.text()).toBe("other");
    expect(transport.uploads.size).toBe(0);
  });
});
