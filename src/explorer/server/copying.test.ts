import { describe, expect, it } from "vitest";
import { StoreError } from "../../store/core/errors.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { transferObjects } from "./copying.ts";
import { TaskProgress } from "./task-progress.ts";

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
  const progress = new TaskProgress({
    id: "1",
    request: { kind: "delete", ...selection },
    begins: 0,
    onChange: () => {},
  });
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
