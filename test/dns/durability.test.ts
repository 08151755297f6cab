/** A write whose reply arrived survives the death of the process. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client } from "./support/client.ts";

const script = fileURLToPath(new URL("support/server-process.ts", import.meta.url));
let folder: string;
let running: ChildProcess | null = null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ledge-dns-kill-"));
});
afterEach(async () => {
  if (running !== null) await kill();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<Client> {
  // A separate process group: the runtime is a child process, and must die at the same time.
  const child = spawn(process.execPath, [script, folder], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running = child;
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return new Client(line.toString().trim());
}

async function kill(): Promise<void> {
  const child = running!;
  running = null;
  const closed = once(child, "close");
  process.kill(-child.pid!, "SIGKILL");
  await closed;
}

test("records survive kill -9, and a write without a reply is complete or absent", async () => {
  let client = await start();
  const zoneId = await client.createZone("kept.example");
  const path = `/zones/${zoneId}/dns_records`;
  const expected = new Map<string, string>();
  for (let round = 0; round < 3; round++) {
    const batch = (part: number) => ({
      posts: Array.from({ length: 20 }, (_, index) => ({
        type: "TXT",
        name: `r${round}-${part}`,
        content: `${index}`,
        tags: [`n:${index}`],
      })),
    });
    for (let index = 0; index < 20; index++) {
      const record = await client.ok("POST", path, {
        type: "A",
        name: `a${round}-${index}`,
        content: "192.0.2.1",
      });
      expected.set(record.id, JSON.stringify(record));
    }
    // These writes are in flight when the process dies.
    const open = Array.from({ length: 20 }, (_, part) =>
      client.call("POST", `${path}/batch`, batch(part)).then(
        (answer) => answer.body.result.posts as { id: string }[],
        () => [],
      ),
    );
    await Promise.race(open);
    await kill();
    for (const posts of await Promise.all(open)) {
      for (const record of posts) expected.set(record.id, JSON.stringify(record));
    }

    client = await start();
    const found = (await client.ok("GET", `${path}?per_page=10000`)) as {
      id: string;
      name: string;
      type: string;
    }[];
    const kept = new Map(found.map((record) => [record.id, JSON.stringify(record)]));
    for (const [id, record] of expected) expect(kept.get(id)).toBe(record);
    // A batch exists completely or not at all.
    const sizes = Map.groupBy(
      found.filter(({ type }) => type === "TXT"),
      ({ name }) => name,
    );
    expect(
      [...sizes.values()].map(({ length }) => length).filter((length) => length !== 20),
    ).toEqual([]);
    expect(await client.ok("GET", `${path}/usage`)).toMatchObject({ record_usage: found.length });
  }
  expect(await client.ok("GET", "/zones?name=kept.example")).toEqual([
    expect.objectContaining({ id: zoneId }),
  ]);
});

test("modified_on survives a restart, and a write that changes nothing keeps it", async () => {
  let client = await start();
  const zoneId = await client.createZone("still.example");
  const path = `/zones/${zoneId}/dns_records`;
  const record = await client.ok("POST", path, {
    type: "A",
    name: "www",
    content: "192.0.2.1",
    ttl: 300,
  });
  const serial = await client.serial(zoneId);
  await kill();
  client = await start();
  const patched = await client.ok("PATCH", `${path}/${record.id}`, {
    content: "192.0.2.1",
    ttl: 300,
  });
  expect(patched).toEqual(record);
  expect(await client.serial(zoneId)).toBe(serial);
});
