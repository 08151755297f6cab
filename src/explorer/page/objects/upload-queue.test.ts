import { describe, expect, it, vi } from "vitest";
import { numberedKey, statusText, UploadQueue, type Sending } from "./upload-queue.ts";

const until = vi.waitUntil;
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** A queue whose files stay on their way until the test lets them go. */
function setUp({ existing = [] as string[] } = {}) {
  const objects = new Map(existing.map((key) => [key, "old"]));
  const sent: Sending[] = [];
  const settings = { isHeld: false };
  const queue = new UploadQueue(async (sending) => {
    sent.push(sending);
    sending.signal.throwIfAborted();
    while (settings.isHeld && !sending.signal.aborted) await nextTurn();
    sending.signal.throwIfAborted();
    if (objects.has(sending.key) && !sending.overwrite) return "exists";
    objects.set(sending.key, await sending.file.text());
    return "done";
  });
  const all = () => queue.summary().rows;
  return {
    queue,
    objects,
    sent,
    settings,
    all,
    states: () => all().map(({ state }) => state),
    add: (...names: string[]) =>
      queue.add(
        names.map((key) => ({ bucket: "photos", key, file: new File([`new ${key}`], key) })),
      ),
    idOf: (key: string) => all().find((upload) => upload.key === key)?.id as number,
  };
}

describe("UploadQueue", () => {
  it("sends each file once, three at once, in the order of arrival", async () => {
    const { queue, objects, sent, settings, add, states } = setUp();
    settings.isHeld = true;
    add("a", "b", "c", "d");
    expect(states()).toEqual(["sending", "sending", "sending", "queued"]);
    sent[0]?.onProgress(3);
    expect(queue.summary()).toMatchObject({ files: 4, left: 4, bytes: 20, sentBytes: 3 });
    settings.isHeld = false;
    await until(() => states().every((state) => state === "done"));
    expect(sent.map(({ key }) => key)).toEqual(["a", "b", "c", "d"]);
    expect(objects.get("d")).toBe("new d");
    expect(queue.summary()).toMatchObject({ left: 0, bytes: 20, sentBytes: 20 });
  });

  it("asks about keys that exist, and goes on with the other files meanwhile", async () => {
    const { queue, objects, add, states, idOf } = setUp({ existing: ["a", "b", "b (2)", "c"] });
    add("a", "b", "c", "d");
    await until(() => states().join() === "exists,exists,exists,done");
    queue.answer(idOf("a"), "replace", false);
    queue.answer(idOf("b"), "keep both", false);
    queue.answer(idOf("c"), "skip", false);
    await until(() => states().join() === "done,done,skipped,done");
    expect(Object.fromEntries(objects)).toEqual({
      a: "new a",
      b: "old",
      "b (2)": "old",
      "b (3)": "new b",
      c: "old",
      d: "new d",
    });
  });

  it("keeps an answer for all until the queue is empty", async () => {
    const { queue, add, states, idOf } = setUp({ existing: ["a", "b", "c"] });
    add("a", "b");
    await until(() => states().join() === "exists,exists");
    add("c");
    queue.answer(idOf("a"), "skip", true);
    await until(() => states().join() === "skipped,skipped,skipped");
    add("a");
    await until(() => states().join() !== "sending");
    expect(states()).toEqual(["exists"]);
  });

  it("breaks the request of a cancelled file off, and sends the next", async () => {
    const { queue, objects, sent, settings, add, states, idOf } = setUp();
    settings.isHeld = true;
    add("a", "b", "c", "d", "e");
    queue.cancel(idOf("a"));
    queue.cancel(idOf("e"));
    expect(sent[0]?.signal.aborted).toBe(true);
    await until(() => states().join() === "cancelled,sending,sending,sending,cancelled");
    settings.isHeld = false;
    await until(() => states().join() === "cancelled,done,done,done,cancelled");
    expect([...objects.keys()].toSorted()).toEqual(["b", "c", "d"]);
    settings.isHeld = true;
    add("f", "g");
    queue.cancel();
    expect(states()).toEqual(["cancelled", "cancelled"]);
    expect(queue.summary()).toMatchObject({ left: 0, bytes: 0 });
    settings.isHeld = false;
  });

  it("keeps the reason of a failure, and sends the file again on demand", async () => {
    let isFull = true;
    const queue = new UploadQueue(async () => {
      if (isFull) throw new Error("The disk is full.");
      return "done";
    });
    queue.add([{ bucket: "photos", key: "a", file: new File(["1"], "a") }]);
    const texts = (): string[] => queue.summary().rows.map(statusText);
    await until(() => queue.summary().counts.failed === 1);
    expect(texts()).toEqual(["Failed: The disk is full."]);
    isFull = false;
    queue.retry();
    await until(() => queue.summary().counts.done === 1);
    expect(texts()).toEqual(["Uploaded, 1 byte"]);
  });

  it("gives the places of files that are sent to other files, and keeps answered files", async () => {
    const keys = Array.from({ length: 120 }, (_, index) => `${100 + index}`);
    const { queue, settings, add, idOf } = setUp({ existing: ["102", "219"] });
    settings.isHeld = true;
    add(...keys);
    const shown = (): string[] => queue.summary().rows.map(({ key }) => key);
    expect(shown()).toEqual(keys.slice(0, 50));
    settings.isHeld = false;
    await until(() => queue.summary().counts.done === 118);
    expect(shown()).toHaveLength(50);
    expect(shown()[2]).toBe("102");
    expect(shown()).toContain("219");
    const before = shown();
    queue.answer(idOf("102"), "replace", false);
    await until(() => queue.summary().counts.done === 119);
    add("220");
    expect(shown()[2]).toBe("102");
    expect(shown().filter((key) => !before.includes(key))).toEqual(["220"]);
  });
});

describe("numberedKey()", () => {
  it("puts the number before the extension, or at the end of the name", () => {
    expect(numberedKey("a/photo.jpg", 2)).toBe("a/photo (2).jpg");
    expect(numberedKey("archive.tar.gz", 3)).toBe("archive.tar (3).gz");
    expect(numberedKey("a.b/README", 2)).toBe("a.b/README (2)");
    expect(numberedKey("folder/.gitignore", 2)).toBe("folder/.gitignore (2)");
  });
});
