/** A script on two runtimes, of which one is killed under load: no acknowledged write is lost. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startBalancer } from "../cluster/balancer.ts";
import { startCluster, type Cluster } from "../cluster/cluster.ts";
import { makePlaces } from "../cluster/places.ts";
import type { Runtime } from "../cluster/runtime.ts";
import { existingService, startOwnService, type S3Service } from "../cluster/s3-service.ts";

// As root, the runtimes have network namespaces of their own.
const places = makePlaces();
const folder = mkdtempSync(join(tmpdir(), "ledge-cluster-"));
let service: S3Service;
let cluster: Cluster;
function runtimeAt(index: number): Runtime {
  const [runtime] = cluster.runtimes.slice(index);
  if (runtime === undefined) throw new Error(`There is no runtime ${index}.`);
  return runtime;
}
const first = (): Runtime => runtimeAt(0);
const second = (): Runtime => runtimeAt(1);

beforeAll(async () => {
  service =
    existingService() ??
    (await startOwnService({ stateFolder: join(folder, "state"), host: places.hostAddress }));
  cluster = await startCluster({
    places,
    service,
    folder,
    startBalancer: (origins) => startBalancer(origins, 0),
    log: () => {},
  });
});

afterAll(async () => {
  await cluster?.stop();
  await service?.stop();
  places.remove();
  rmSync(folder, { recursive: true, force: true });
});

function put(origin: string, key: string, body: string | Uint8Array, headers = {}) {
  const content = body as Uint8Array<ArrayBuffer> | string;
  return fetch(`${origin}/notes/${key}`, { method: "PUT", body: content, headers });
}

describe("two runtimes", () => {
  it("read what the other has written, at once", async () => {
    for (const [writer, reader] of [
      [first(), second()],
      [second(), first()],
    ] as const) {
      const written = await put(writer.origin, "shared", `from ${writer.name}`);
      expect([written.status, written.headers.get("x-runtime")]).toEqual([200, writer.name]);
      const read = await fetch(`${reader.origin}/notes/shared`);
      expect([await read.text(), read.headers.get("x-runtime")]).toEqual([
        `from ${writer.name}`,
        reader.name,
      ]);
    }
  });

  it("let one of many conditional writes succeed", async () => {
    const racers = Array.from({ length: 16 }, (_, index) =>
      put(runtimeAt(index % 2).origin, "once", `racer ${index}`, { "if-none-match": "*" }),
    );
    const answers = await Promise.all(racers);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 15 }, () => 412),
    ]);
    const winner = `racer ${statuses.indexOf(200)}`;
    expect(await (await fetch(`${second().origin}/notes/once`)).text()).toBe(winner);
  });

  it("get requests in turn", async () => {
    const names = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const response = await fetch(`${cluster.balancer.origin}/health`);
        return response.headers.get("x-runtime");
      }),
    );
    expect(new Set(names)).toEqual(new Set(["edge-1", "edge-2"]));
  });
});

describe("a runtime that is killed under load", () => {
  const writers = 8;
  const writesOfEach = 25;
  const [before, after] = [50, 50];

  it("loses no acknowledged write, and the other runtime goes on", async () => {
    const acknowledged = new Map<string, string>();
    const failures: string[] = [];
    let acknowledgedSinceKill = 0;
    let killed: Promise<void> | undefined;

    async function write(writer: number): Promise<void> {
      for (let index = 0; index < writesOfEach; index++) {
        const key = `load/${writer}-${index}`;
        // Some notes are so large that the runtime writes them to its spool first.
        const content = randomBytes(index % 15 === 0 ? 5_000_000 : 200);
        // After 502 the write may have been executed. To write the same content again does no harm.
        let response = await put(cluster.balancer.origin, key, content);
        while (response.status === 502) {
          response = await put(cluster.balancer.origin, key, content);
        }
        await response.arrayBuffer();
        if (response.ok) {
          acknowledged.set(key, sha256(content));
          if (killed !== undefined) acknowledgedSinceKill++;
        } else failures.push(`${key}: ${response.status}`);
        if (acknowledged.size === before) killed ??= first().kill();
      }
    }
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    await killed;

    expect(failures).toEqual([]);
    expect(acknowledged.size).toBe(writers * writesOfEach);
    expect(acknowledgedSinceKill).toBeGreaterThan(after);
    expect(await readAll(second().origin, acknowledged)).toEqual([]);
  });

  it("serves the same notes when it is back", async () => {
    await expect(fetch(`${first().origin}/health`)).rejects.toThrow("fetch failed");
    await first().start();
    await vi.waitFor(
      async () => {
        const response = await fetch(`${cluster.balancer.origin}/health`);
        expect(response.headers.get("x-runtime")).toBe("edge-1");
      },
      { timeout: 60_000, interval: 50 },
    );
    const keys = await listAll(first().origin, "load/");
    expect(keys).toHaveLength(writers * writesOfEach);
    expect(keys).toEqual(await listAll(second().origin, "load/"));
  });
});

/** @returns the keys whose content is not the content that was acknowledged */
async function readAll(origin: string, expected: ReadonlyMap<string, string>): Promise<string[]> {
  const wrong: string[] = [];
  for (const [key, hash] of expected) {
    const response = await fetch(`${origin}/notes/${key}`);
    const content = new Uint8Array(await response.arrayBuffer());
    if (!response.ok || sha256(content) !== hash) wrong.push(key);
  }
  return wrong;
}

async function listAll(origin: string, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ prefix, ...(cursor !== undefined && { cursor }) });
    const response = await fetch(`${origin}/notes?${query}`);
    const page = (await response.json()) as { keys: string[]; cursor?: string };
    keys.push(...page.keys);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return keys;
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
