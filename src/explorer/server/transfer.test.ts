import { describe, expect, it } from "vitest";
import type { CopyTask } from "../api/tasks.ts";
import { StoreError } from "../../store/core/errors.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { TaskProgress } from "./tasks.ts";
import { copyTargets, lastSegment, plainSelection, transferObjects } from "./transfer.ts";

function task(change: Partial<CopyTask>): CopyTask {
  return {
    kind: "copy",
    bucket: "photos",
    keys: [],
    prefixes: [],
    to: { bucket: "photos", key: "new/" },
    overwrite: false,
    ...change,
  };
}

describe("plainSelection()", () => {
  it("leaves out what is named twice", () => {
    const selection = {
      bucket: "photos",
      keys: ["a", "a", "b/c", "bc"],
      prefixes: ["b/", "b/d/", "b/"],
    };
    expect(plainSelection(selection)).toEqual({
      bucket: "photos",
      keys: ["a", "bc"],
      prefixes: ["b/"],
    });
  });

  it("refuses a request without objects, and a folder without a name", () => {
    const nothing = { bucket: "photos", keys: [], prefixes: [] };
    expect(() => plainSelection(nothing)).toThrow("names no objects");
    expect(() => plainSelection({ ...nothing, prefixes: [""] })).toThrow("must not be empty");
  });
});

describe("copyTargets()", () => {
  it("takes the new key of one object as it is", () => {
    const targetOf = copyTargets(task({ keys: ["a/b"], to: { bucket: "photos", key: "c" } }));
    expect(targetOf("a/b")).toBe("c");
  });

  it("appends the last segments of several keys and folders", () => {
    const targetOf = copyTargets(task({ keys: ["a/b", "c"], prefixes: ["d/e/"] }));
    expect(["a/b", "c", "d/e/f/g", "d/e/"].map(targetOf)).toEqual([
      "new/b",
      "new/c",
      "new/e/f/g",
      "new/e/",
    ]);
  });

  it.each([
    [{ keys: ["a"], to: { bucket: "photos", key: "a" } }, '"a" is there already'],
    [{ keys: ["new/a", "b"] }, '"new/a" is there already'],
    [{ prefixes: ["new/a/"] }, '"new/a/" is there already'],
    [{ prefixes: ["new/"] }, 'The folder "new/" cannot be copied into itself'],
    [
      { prefixes: ["a/"], kind: "move" as const, to: { bucket: "photos", key: "a/b/" } },
      'The folder "a/" cannot be moved into itself',
    ],
    [{ keys: ["a/x", "b/x"] }, 'Two of the selected names end in "x"'],
    [{ prefixes: ["a/x/", "b/x/"] }, 'Two of the selected names end in "x/"'],
  ])("refuses %j", (change, message) => {
    expect(() => copyTargets(task(change))).toThrow(message);
  });

  it("copies a folder to the same place in another bucket", () => {
    const to = { bucket: "archive", key: "" };
    expect(copyTargets(task({ prefixes: ["a/"], to }))("a/b")).toBe("a/b");
  });
});

describe("lastSegment()", () => {
  it.each([
    ["a/b/c", "c"],
    ["a/b/", "b/"],
    ["a", "a"],
    ["a//", "/"],
    ["", ""],
  ])("of %j is %j", (path, segment) => {
    expect(lastSegment(path)).toBe(segment);
  });
});

/** A bucket in memory, with as much of the interface as a copy uses. The content is the etag. */
class MemoryBucket {
  readonly objects = new Map<string, { version: string; etag: string }>();
  /** Called before a `head` or a `delete` is answered. */
  before: (method: string, key: string) => void = () => {};

  put(key: string, etag: string, version: string): void {
    this.objects.set(key, { version, etag });
  }

  async get({ key }: { key: string }): Promise<unknown> {
    const found = this.objects.get(key);
    if (found === undefined) return null;
    const content = Buffer.from(found.etag);
    const range = { offset: 0, length: content.length };
    const object = {
      key,
      size: 1,
      ...found,
      http: {},
      custom: {},
      checksums: {},
      storageClass: "Standard",
    };
    return { status: "found", object, range, content };
  }

  async copy({ content }: { content: Buffer }): Promise<unknown> {
    return content;
  }

  async call(request: Record<string, unknown>): Promise<unknown> {
    const { method, keys, onlyIf } = request;
    const key = (request["key"] ?? (keys as string[])[0]) as string;
    this.before(method as string, key);
    const found = this.objects.get(key);
    switch (method) {
      case "head":
        return found === undefined ? null : encoded(found);
      case "put":
        this.put(key, String(request["content"]), "copy");
        return encoded({ version: "copy", etag: String(request["content"]) });
      case "delete": {
        const [tag] = (onlyIf as { etagMatches: { value: string }[] }).etagMatches;
        if (found?.etag !== tag?.value) throw new StoreError(10031);
        this.objects.delete(key);
        return null;
      }
      default:
        throw new Error(`Unexpected: ${String(method)}`);
    }
  }
}

function encoded({ version, etag }: { version: string; etag: string }): string {
  return JSON.stringify([[version, 1, etag, 0], null]);
}

async function move(from: MemoryBucket, to: MemoryBucket, keys: readonly string[]) {
  const selection = { bucket: "a", keys, prefixes: [] };
  const progress = new TaskProgress({ kind: "delete", ...selection }, 0, () => {});
  progress.count(keys.length);
  await transferObjects(
    {
      kind: "move",
      from: from as unknown as Bucket,
      to: to as unknown as Bucket,
      overwrite: true,
      targetOf: (key) => `new/${key}`,
    },
    keys.map((key) => ({ key, version: "1" })),
    progress,
  );
  return progress.show();
}

describe("transferObjects()", () => {
  it("moves: the source is deleted after the copy is stored", async () => {
    const [from, to] = [new MemoryBucket(), new MemoryBucket()];
    from.put("a", "content", "1");
    const copiesAtDelete: number[] = [];
    from.before = (method) => {
      if (method === "delete") copiesAtDelete.push(to.objects.size);
    };
    expect(await move(from, to, ["a"])).toMatchObject({ done: 1, failed: 0 });
    expect(copiesAtDelete).toEqual([1]);
    expect([from.objects.size, to.objects.get("new/a")?.etag]).toEqual([0, "content"]);
  });

  it.each([
    ["head", "another content"],
    ["head", "content"],
    ["delete", "another content"],
  ])("leaves a source that is replaced before the %s, by %j", async (moment, etag) => {
    const [from, to] = [new MemoryBucket(), new MemoryBucket()];
    from.put("a", "content", "1");
    from.before = (method) => {
      if (method === moment) from.put("a", etag, "2");
    };
    const { done, failed, failures } = await move(from, to, ["a"]);
    expect([done, failed]).toEqual([0, 1]);
    expect(failures[0]?.message).toContain("was replaced while it was moved");
    expect(from.objects.get("a")?.version).toBe("2");
    expect(to.objects.get("new/a")?.etag).toBe("content");
  });

  it("goes on after an object that cannot be copied", async () => {
    const [from, to] = [new MemoryBucket(), new MemoryBucket()];
    from.put("b", "content", "1");
    to.before = (method, key) => {
      if (method === "put" && key === "new/a") throw new StoreError(10001, "The disk is full.");
    };
    from.put("a", "content", "1");
    const { done, failures } = await move(from, to, ["a", "b"]);
    expect(done).toBe(1);
    expect(failures).toEqual([{ key: "a", message: "The disk is full." }]);
    expect([...from.objects.keys()]).toEqual(["a"]);
  });
});
