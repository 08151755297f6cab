/** The temporary Ceph cluster of the other tests: kills, restarts, and a start that fails. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import { afterAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { startCeph, type CephService } from "./ceph/cluster.ts";
import { cephConfiguration } from "./ceph/configuration.ts";

// Other clusters of this machine have their folders elsewhere.
const folder = mkdtempSync(join(tmpdir(), "ledge-peers-"));
vi.stubEnv("TMPDIR", folder);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(inject("ceph") === null)("startCeph()", () => {
  it("keeps objects when the gateway and the storage daemon are killed", async () => {
    const cluster = await startCeph();
    onTestFinished(() => cluster.stop());
    const client = clientOf(cluster);
    const url = `${cluster.endpoint}/kept-objects/key`;
    const read = async (): Promise<string> => (await client.fetch(url)).text();
    await cluster.createBucket("kept-objects");
    expect(
      (await client.fetch(url, { method: "PUT", body: new TextEncoder().encode("content") }))
        .status,
    ).toBe(200);

    await cluster.killGateway();
    await expect(client.fetch(url)).rejects.toThrow("fetch failed");
    await cluster.restartGateway();
    expect(await read()).toBe("content");

    await cluster.killOsd();
    const waiting = read();
    await cluster.restartOsd();
    expect(await waiting).toBe("content");
  });

  it("ends all daemons and removes the data", async () => {
    const before = remains();
    const cluster = await startCeph();
    expect(remains().length).toBeGreaterThan(before.length);
    await cluster.stop();
    expect(remains()).toEqual(before);
  });

  it("leaves nothing when a daemon cannot start", async () => {
    const before = remains();
    const start = startCeph("newest", (addresses) =>
      cephConfiguration(addresses).replace("/cluster/osd", "/missing/osd"),
    );
    await expect(start).rejects.toThrow(/did not start: .*ceph-osd .* failed/);
    expect(remains()).toEqual(before);
  });
});

function clientOf({ accessKeyId, secretAccessKey }: CephService): AwsClient {
  const place = { service: "s3", region: "us-east-1", retries: 0 };
  return new AwsClient({ accessKeyId, secretAccessKey, ...place });
}

/** The clusters' folders, and the processes and mounts of this process that belong to clusters. */
function remains(): string[] {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith("ledge-ceph-"));
  const processes = readdirSync("/proc").filter((id) => {
    try {
      const isCeph = readFileSync(`/proc/${id}/cmdline`, "utf8").includes("/cluster/ceph.conf");
      const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1];
      return isCeph && parent === String(process.pid);
    } catch {
      // Not a process, or a process that has ended meanwhile.
      return false;
    }
  });
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .filter((line) => line.includes("ceph"));
  return [...folders, ...processes, ...mounts].toSorted();
}
