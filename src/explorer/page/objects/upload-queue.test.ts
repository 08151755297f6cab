import { describe, expect, it, vi } from "vitest";
import { statusText, summarize, UploadQueue, type Sending, type Upload } from "./upload-queue.ts";

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
  const all = (): Upload[] => [...queue.uploads];
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
    expect(summarize(queue.uploads)).toMatchObject({ files: 4, left: 4, bytes: 20, sentBytes: 3 });
    settings.isHeld = false;
    await until(() => states().every((state) => state === "done"));
    expect(sent.map(({ key }) => key)).toEqual(["a", "b", "c", "d"]);
    expect(objects.get("d")).toBe("new d");
    expect(summarize(queue.uploads)).toMatchObject({ left: 0, bytes: 20, sentBytes: 20 });
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

  it("removes a cancelled file, breaks its request off, and sends the next", async () => {
    const { queue, objects, sent, settings, add, states, idOf } = setUp();
    settings.isHeld = true;
    add("a", "b", "c", "d", "e");
    queue.cancel(idOf("a"));
    queue.cancel(idOf("e"));
    expect(sent[0]?.signal.aborted).toBe(true);
    await until(() => states().join() === "sending,sending,sending");
    settings.isHeld = false;
    await until(() => states().join() === "done,done,done");
    expect([...objects.keys()].toSorted()).toEqual(["b", "c", "d"]);
    settings.isHeld = true;
    add("f");
    queue.cancelAll();
    expect(states()).toEqual([]);
    settings.isHeld = false;
  });

  it("keeps the reason of a failure, and sends the file again on demand", async () => {
    let isFull = true;
    const queue = new UploadQueue(async () => {
      if (isFull) throw new Error("The disk is full.");
      return "done";
    });
    queue.add([{ bucket: "photos", key: "a", file: new File(["1"], "a") }]);
    const upload = (): Upload => [...queue.uploads][0] as Upload;
    await until(() => upload().state === "failed");
    expect(statusText(upload())).toBe("Failed: The disk is full.");
    isFull = false;
    queue.retry(upload().id);
    await until(() => upload().state === "done");
    expect(statusText(upload())).toBe("Uploaded, 1 byte");
  });
});

const uploadOf = (id: number, state: Upload["state"]): Upload => ({
  id,
  bucket: "photos",
  key: String(id),
  size: 1,
  state,
  sentBytes: 0,
  message: null,
});

describe("summarize()", () => {
  it("shows the files that need a person first, and counts the rest", () => {
    const many = Array.from({ length: 10_000 }, (_, id) => uploadOf(id, "queued"));
    const { rows, files, left } = summarize([
      ...many,
      uploadOf(-1, "failed"),
      uploadOf(-2, "sending"),
    ]);
    expect(rows.map(({ id }) => id).slice(0, 3)).toEqual([-1, -2, 0]);
    expect({ shown: rows.length, files, left }).toEqual({ shown: 30, files: 10_002, left: 10_002 });
  });
});
