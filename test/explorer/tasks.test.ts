/** Deletions, copies and moves of many objects. Deletions wait ten seconds, so their tests run at once. */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { NewTask, Task } from "../../src/explorer/api/tasks.ts";
import { BucketCalls } from "./support/bucket-calls.ts";
import { useExplorer } from "./support/explorer.ts";

const used = useExplorer({ buckets: ["photos", "archive"] });
const photos = new BucketCalls(used, "photos");
const archive = new BucketCalls(used, "archive");

function start(json: Partial<NewTask> & Record<string, unknown>): Promise<Task> {
  const complete = { bucket: "photos", keys: [], prefixes: [], ...json };
  return used.call<Task>("/api/tasks", { method: "POST", json: complete });
}

const cancel = (id: string): Promise<Task> =>
  used.call<Task>(`/api/tasks/${id}`, { method: "DELETE" });

/** Starts a task, and waits for its end. */
async function finish(json: Partial<NewTask> & Record<string, unknown>): Promise<Task> {
  return ended(await start({ overwrite: false, ...json }));
}

async function ended({ id }: Task): Promise<Task> {
  for (;;) {
    const tasks = await used.call<Task[]>("/api/tasks");
    const task = tasks.find((each) => each.id === id);
    if (task === undefined) throw new Error("The task was forgotten.");
    if (task.state !== "waiting" && task.state !== "running") return task;
    await delay(50);
  }
}

describe.concurrent("a deletion", () => {
  it("waits for ten seconds, and deletes keys and folders", async () => {
    const folder = Array.from({ length: 1500 }, (_, index) => `d1/f/${index}`);
    await photos.putAll(["d1/a", "d1/b", "d1/f2", "d1/<img src=x>", ...folder]);
    const task = await start({
      kind: "delete",
      keys: ["d1/a", "d1/<img src=x>", "d1/absent", "d1/f/7"],
      prefixes: ["d1/f/"],
    });
    expect(task).toMatchObject({ kind: "delete", state: "waiting", done: 0, failed: 0 });
    expect(await photos.keys("d1/")).toHaveLength(1504);
    const { done, total, state, failed, begins } = await ended(task);
    expect([done, total, state, failed]).toEqual([1502, 1502, "done", 0]);
    expect(Date.now()).toBeGreaterThanOrEqual(begins);
    expect(await photos.keys("d1/")).toEqual(["d1/b", "d1/f2"]);
  });

  it("that is cancelled in time deletes nothing", async () => {
    await photos.putAll(["d2/a", "d2/b"]);
    const task = await start({ kind: "delete", keys: ["d2/a"], prefixes: ["d2/"] });
    expect((await cancel(task.id)).state).toBe("cancelled");
    await expect(cancel(task.id)).rejects.toThrow("has ended already");
    // Another deletion, which began later, has ended: the time of this one has passed.
    await photos.put("d2x");
    await finish({ kind: "delete", keys: ["d2x"] });
    expect(await photos.keys("d2/")).toEqual(["d2/a", "d2/b"]);
    expect((await ended(task)).state).toBe("cancelled");
  });

  it("leaves alone what was replaced or added after the request", async () => {
    await photos.putAll(["d3/a", "d3/b", "d3/c"]);
    const task = await start({ kind: "delete", keys: ["d3/a"], prefixes: ["d3/"] });
    let counted = task;
    while (counted.total === null) {
      counted = (await used.call<Task[]>("/api/tasks")).find(({ id }) => id === task.id) as Task;
    }
    await photos.put("d3/a", "d3/a");
    await photos.put("d3/new");
    const { done, failed, state, failures } = await ended(task);
    expect([done, failed, state]).toEqual([2, 1, "failed"]);
    expect(failures).toEqual([
      { key: "d3/a", message: "The object was replaced after the request, and is not deleted." },
    ]);
    expect(await photos.keys("d3/")).toEqual(["d3/a", "d3/new"]);
  });
});

describe("a copy", () => {
  it("keeps the content, the metadata and the storage class", async () => {
    const bytes = randomBytes(500_000);
    await photos.put("c1/large", bytes, { type: "image/png" });
    await photos.change("c1/large", {
      customMetadata: { author: "Ada" },
      storageClass: "InfrequentAccess",
    });
    const to = { bucket: "archive", key: "c1/copy" };
    expect(await finish({ kind: "copy", keys: ["c1/large"], to })).toMatchObject({
      state: "done",
      done: 1,
      total: 1,
    });
    const { version: _version, uploaded: _uploaded, ...copied } = await archive.head("c1/copy");
    const { version: _other, uploaded: _earlier, ...source } = await photos.head("c1/large");
    expect(copied).toEqual({ ...source, key: "c1/copy" });
    const content = await archive.get("c1/copy");
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it("of folders and keys keeps the names below the target", async () => {
    const keys = Array.from({ length: 1200 }, (_, index) => `c2/f/${index}`);
    await photos.putAll([...keys, "c2/f/sub/../x", "c2/f/", "c2/one"]);
    const to = { bucket: "photos", key: "c2new/" };
    const task = await finish({ kind: "copy", keys: ["c2/one"], prefixes: ["c2/f/"], to });
    expect([task.state, task.done, task.total]).toEqual(["done", 1203, 1203]);
    const copied = await photos.keys("c2new/");
    expect(copied).toEqual((await photos.keys("c2/")).map((key) => key.replace("c2/", "c2new/")));
    expect(await photos.text("c2new/f/sub/../x")).toBe("c2/f/sub/../x");
  });

  it("leaves objects at the target alone, unless they may be replaced", async () => {
    await photos.putAll(["c3/a", "c3/b"]);
    await archive.put("c3/a", "old");
    const copy = { kind: "copy" as const, prefixes: ["c3/"], to: { bucket: "archive", key: "" } };
    const { state, done, failed, failures } = await finish(copy);
    expect([state, done, failed]).toEqual(["failed", 1, 1]);
    expect(failures[0]).toEqual({
      key: "c3/a",
      message: 'An object "c3/a" exists already, and is not replaced.',
    });
    expect(await archive.text("c3/a")).toBe("old");
    expect((await finish({ ...copy, overwrite: true })).state).toBe("done");
    expect(await archive.text("c3/a")).toBe("c3/a");
  });

  it("reports objects that do not exist, and keys that get too long", async () => {
    await photos.put("c4/a");
    const to = { bucket: "photos", key: `${"x".repeat(1020)}/` };
    await photos.putAll(["c4/f/long name"]);
    const { failures, failed } = await finish({ kind: "copy", prefixes: ["c4/f/"], to });
    expect(failed).toBe(1);
    expect(failures[0]?.message).toContain("at most 1024 are allowed");
    const absent = { kind: "copy" as const, keys: ["c4/absent", "c4/a"] };
    const task = await finish({ ...absent, to: { bucket: "archive", key: "c4/" } });
    expect([task.done, task.failed, task.failures[0]?.key]).toEqual([1, 1, "c4/absent"]);
  });
});

describe("a move", () => {
  it("renames an object", async () => {
    await photos.put("m1/a", "moved");
    const to = { bucket: "photos", key: "m1/b" };
    expect((await finish({ kind: "move", keys: ["m1/a"], to })).state).toBe("done");
    expect(await photos.keys("m1/")).toEqual(["m1/b"]);
    expect(await photos.text("m1/b")).toBe("moved");
  });

  it("of a folder leaves what cannot be moved", async () => {
    await photos.putAll(["m2/a", "m2/b/c"]);
    await archive.put("m2/a", "old");
    const task = await finish({
      kind: "move",
      prefixes: ["m2/"],
      to: { bucket: "archive", key: "" },
    });
    expect([task.done, task.failed]).toEqual([1, 1]);
    expect(await photos.keys("m2/")).toEqual(["m2/a"]);
    expect(await archive.keys("m2/")).toEqual(["m2/a", "m2/b/c"]);
    expect(await archive.text("m2/a")).toBe("old");
  });

  it.each([
    [{ keys: ["a"], to: { bucket: "photos", key: "a" } }, "is there already"],
    [{ prefixes: ["a/"], to: { bucket: "photos", key: "a/b/" } }, "into itself"],
    [{ prefixes: ["a/"], to: { bucket: "photos", key: "" } }, "is there already"],
    [{ keys: ["a/x", "b/x"], to: { bucket: "photos", key: "c/" } }, "Choose one of them"],
    [{ keys: ["a"], to: { bucket: "absent", key: "a" } }, 'no bucket \\"absent\\"'],
    [{ keys: ["a"], to: { bucket: "photos", key: "" } }, "The key is empty"],
    [{ to: { bucket: "photos", key: "b" } }, "names no objects"],
    [{ keys: ["a"] }, '\\"to\\" of the request is missing'],
    [{ keys: "a", to: { bucket: "photos", key: "b" } }, "a list of keys"],
    [{ kind: "burn" }, "must be delete, copy, move or deleteRecords"],
    [{ keys: [""], to: { bucket: "photos", key: "b" } }, "The key is empty"],
  ])("refuses %j", async (task, message) => {
    const json = { kind: "move", overwrite: false, ...task } as Parameters<typeof start>[0];
    await expect(start(json)).rejects.toThrow(message);
  });
});

describe("tasks", () => {
  it("that do not exist cannot be cancelled", async () => {
    await expect(cancel("absent")).rejects.toThrow("There is no such task");
  });

  it("are remembered after their end, up to fifty", async () => {
    await photos.put("t1");
    for (let index = 0; index < 55; index++) {
      await start({
        kind: "copy",
        keys: ["t1"],
        to: { bucket: "archive", key: `t/${index}` },
        overwrite: true,
      }).then(ended);
    }
    const tasks = await used.call<Task[]>("/api/tasks");
    expect(tasks.filter(({ state }) => state === "done").length).toBe(50);
  });
});
