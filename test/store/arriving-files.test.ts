/**
 * The files that operations bring: a row names a file only when the file is there with its size,
 * whichever process says that it has written the file.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeBlobName } from "../../src/store/core/content.ts";
import type { Operation, Outcome } from "../../src/store/core/operations.ts";
import { EndpointClient } from "../../src/store/node/endpoint.ts";
import { bytesOf } from "../support/bytes.ts";
import { startStore, temporaryFolder, type Store } from "../support/store.ts";
import { bucketEntry, worker } from "../support/worker.ts";

const size = 1000;

/** Starts a store, whose bucket has the setting. */
async function start(durability: string) {
  const folder = temporaryFolder();
  const env = { BUCKET: bucketEntry({ bucket_name: "photos", durability }) };
  const store = await startStore(folder, [worker("export default {};", { env })]);
  const endpoint = new EndpointClient(join(folder, "store"));
  onTestFinished(() => endpoint.close());
  const blobs = join(folder, "store/blobs/photos");
  mkdirSync(blobs, { recursive: true });
  return { folder, store, endpoint, blobs };
}

function newName(): string {
  return makeBlobName("0".repeat(16), randomBytes(16).toString("hex"));
}

function put(key: string, blob: string): Operation {
  const content = { blob, size, checksums: { md5: "0".repeat(32) } };
  return { method: "put", key, content, http: {}, custom: {}, storageClass: "Standard" };
}

async function execute(
  endpoint: EndpointClient,
  operations: Operation[],
  id: string = randomUUID(),
): Promise<readonly Outcome[]> {
  return endpoint.execute("photos", { id, operations });
}

function refused(key: string, problem: string): Outcome {
  const text = `Cannot store "${key}": ${problem}. Nothing was stored. Put the object again.`;
  return { ok: false, code: 10001, text };
}

async function keysOf({ bucket }: Store): Promise<string[]> {
  return (await bucket.list()).objects.map(({ key }) => key);
}

describe.skipIf(process.platform === "win32").each(["power", "process"])(
  "with durability = %j, a put",
  (durability) => {
    it("is refused when its file is missing or has another size, and the others are stored", async () => {
      const { store, endpoint, blobs } = await start(durability);
      const [whole, short, missing] = [newName(), newName(), newName()];
      writeFileSync(join(blobs, whole), bytesOf(size));
      writeFileSync(join(blobs, short), bytesOf(5));
      const operations = [put("whole", whole), put("short", short), put("missing", missing)];
      const [first, ...others] = await execute(endpoint, operations);
      expect(first?.ok).toBe(true);
      expect(others).toEqual([
        refused("short", `file "${short}" is 5 bytes, metadata says ${size}`),
        refused("missing", `file "${missing}" is missing, metadata says ${size} bytes`),
      ]);
      expect(await keysOf(store)).toEqual(["whole"]);
      expect(existsSync(join(blobs, short))).toBe(false);
    });

    it("that is repeated has its first outcome, although its file is gone", async () => {
      const { store, endpoint, blobs } = await start(durability);
      const name = newName();
      writeFileSync(join(blobs, name), bytesOf(size));
      const id = randomUUID();
      const outcomes = await execute(endpoint, [put("a", name)], id);
      const replacing = await store.bucket.put("a", "small");
      expect(existsSync(join(blobs, name))).toBe(false);
      expect(await execute(endpoint, [put("a", name)], id)).toEqual(outcomes);
      expect((await store.bucket.head("a"))?.version).toBe(replacing.version);
    });

    it("and the collection of its file exclude each other", async () => {
      const { store, endpoint, blobs } = await start(durability);
      for (let round = 0; round < 3; round++) {
        // Files of a run that has ended: garbage, unless a put names them.
        const names = Array.from({ length: 60 }, newName);
        for (const name of names) writeFileSync(join(blobs, name), bytesOf(size));
        const collected = store.control.collectGarbage("photos");
        const outcomes = await Promise.all(
          names.map(async (name) => (await execute(endpoint, [put(name, name)]))[0] as Outcome),
        );
        await collected;
        const stored = names.filter((_, index) => outcomes[index]?.ok);
        const left = new Set(readdirSync(blobs));
        expect(stored.filter((name) => !left.has(name))).toEqual([]);
        expect((await keysOf(store)).filter((key) => names.includes(key))).toEqual(stored.sort());
        await store.bucket.delete(names);
        for (const name of names) rmSync(join(blobs, name), { force: true });
      }
    });
  },
);
