/** Which programs faults concern, and when they end: with the process that asked for them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { describe, expect, it, onTestFinished } from "vitest";
import { startExplorer } from "../../dist/index.js";
import { noFaults, StoreFaults } from "../../src/explorer/server/faults.ts";
import { StoreClient } from "../../src/store/node/store-client.ts";
import type { StoreBucket } from "../../src/types/store.ts";
import { credentials } from "../dns/support/client.ts";
import { startTestDns } from "../dns/support/running-dns.ts";
import { UdpClient } from "../dns/support/dns-client.ts";
import { openExplorerLink } from "../support/explorer-access.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";
import { startChild } from "./support/child.ts";

const waiting = { timeout: 60_000, interval: 20 };
const script = worker(`export default {
  async fetch(request, { BUCKET }) {
    try {
      await BUCKET.put(new URL(request.url).pathname.slice(1), "content");
      return new Response("stored");
    } catch (error) {
      return new Response(error.message);
    }
  },
};`);

/** A script on a state folder, and a put of the script: the answer is "stored", or an error. */
async function startScript(stateFolder: string) {
  const options = { resourcePersistencePath: join(stateFolder, "v3"), workers: [script] };
  const miniflare = new Miniflare(options);
  onTestFinished(() => miniflare.dispose());
  await miniflare.ready;
  const put = async (key: string): Promise<string> =>
    (await miniflare.dispatchFetch(`http://script/${key}`)).text();
  return { miniflare, options, put };
}

async function putFaults(url: string, ...faults: string[]): Promise<void> {
  const { address, cookie } = await openExplorerLink(url);
  const response = await fetch(`${address}/api/faults`, {
    method: "PUT",
    headers: { cookie },
    body: JSON.stringify({ ...noFaults, faults }),
  });
  expect(await response.json()).toMatchObject({ problem: null });
}

const fault = "put:photos:10001";
const failed = expect.stringContaining("(10001)");

function holdFaults(
  stateFolder: string,
  dns: ConstructorParameters<typeof StoreFaults>[0]["dns"] = async () => null,
): StoreFaults {
  const folder = join(stateFolder, "v3", "store");
  const held = new StoreFaults({ folder, bucketNames: async () => ["photos"], dns });
  onTestFinished(() => held.close());
  return held;
}

describe("faults of buckets", () => {
  it("end when the explorer is closed, and when its process is killed", async () => {
    const stateFolder = temporaryFolder();
    const { put } = await startScript(stateFolder);
    const explorer = await startExplorer({ stateFolder, buckets: ["photos"], port: 0 });
    onTestFinished(() => explorer.close());
    await putFaults(explorer.url, fault);
    expect(await put("key")).toEqual(failed);
    await explorer.close();
    expect(await put("key")).toBe("stored");

    const child = await startChild("explorer-process.ts", stateFolder);
    await putFaults(child.line, fault);
    expect(await put("key")).toEqual(failed);
    await child.kill();
    await expect.poll(() => put("key"), waiting).toBe("stored");
  });

  it("concern scripts in other runtimes, Node and commands, but not the explorer", async () => {
    const stateFolder = temporaryFolder();
    const owner = await startScript(stateFolder);
    const client = await startScript(stateFolder);
    await holdFaults(stateFolder).change({ ...noFaults, faults: [fault, "head:photos:drop"] });
    expect(await owner.put("key")).toEqual(failed);
    expect(await client.put("key")).toEqual(failed);
    const { BUCKET } = await client.miniflare.getBindings<{ BUCKET: StoreBucket }>();
    await expect(BUCKET.put("key", "content")).rejects.toThrow("(10001)");
    await expect(BUCKET.head("key")).rejects.toThrow("Network connection lost.");
    // The owner stores the content of a large file.
    const large = join(stateFolder, "large.bin");
    writeFileSync(large, new Uint8Array(300_000));
    for (const file of [import.meta.filename, large]) {
      const args = ["store", "put", "photos/key", file, "--persist-to", stateFolder];
      expect(await runInProcess(stateFolder, args)).toMatchObject({ code: 1, error: failed });
    }

    const names = ["photos"];
    const configured = () => ({ names, file: "wrangler.jsonc" });
    const store = new StoreClient(join(stateFolder, "v3", "store"), configured, "explorer");
    onTestFinished(() => store.close());
    const photos = await store.find("photos");
    // The third batch travels by the channel of the bucket.
    for (const key of ["none", "none", "none"]) {
      expect(await photos?.call({ method: "head", key })).toBeNull();
    }
  });

  it("are united when two processes ask for some, and the clock is that of the last", async () => {
    const stateFolder = temporaryFolder();
    const { put } = await startScript(stateFolder);
    const one = holdFaults(stateFolder);
    const other = holdFaults(stateFolder);
    const hour = 3_600_000;
    await one.change({
      ...noFaults,
      faults: ["put:photos/a:10001"],
      clockOffsetMilliseconds: hour,
    });
    const state = await other.change({
      ...noFaults,
      faults: ["put:photos/b:10058"],
      clockOffsetMilliseconds: -hour,
    });
    expect(state.storeTime).toBeLessThan(Date.now());
    expect((await one.read()).storeTime).toBeLessThan(Date.now());
    expect([await put("a"), await put("b"), await put("c")]).toEqual([
      failed,
      expect.stringContaining("(10058)"),
      "stored",
    ]);
    await other.close();
    expect((await one.read()).storeTime).toBeGreaterThan(Date.now());
    expect([await put("a"), await put("b")]).toEqual([failed, "stored"]);
  });

  it("wait for a process that uses the store, and hold for each runtime that starts", async () => {
    const stateFolder = temporaryFolder();
    const held = holdFaults(stateFolder);
    const state = await held.change({ ...noFaults, faults: [fault] });
    expect(state.problem).toContain("No process has the buckets open.");
    const { miniflare, options, put } = await startScript(stateFolder);
    const isInForce = async () => (await held.read()).problem;
    await expect.poll(isInForce, waiting).toBeNull();
    expect(await put("key")).toEqual(failed);
    for (let restart = 0; restart < 3; restart++) {
      await miniflare.setOptions(options);
      await expect.poll(isInForce, waiting).toBeNull();
      expect(await put("key")).toEqual(failed);
    }
  });
});

describe("faults of DNS queries", () => {
  const dnsFault = "dns:servfail:www.example.org/A";

  it("end with their connection, also when the process is killed, and count their hits", async () => {
    const records = [{ type: "A", name: "www", content: "192.0.2.1", ttl: 300 }];
    const server = await startTestDns({ zones: [{ name: "example.org", records }] });
    onTestFinished(server.stop);
    const apiUrl = new URL(server.dns.url).origin;
    const client = new UdpClient(server.port, "127.0.0.1");
    onTestFinished(() => client.close());
    const rcode = async () => (await client.ask("www.example.org", "A")) as unknown as object;
    const folder = temporaryFolder();
    const held = holdFaults(folder, async () => ({
      apiUrl,
      addresses: [],
      headers: credentials,
    }));
    expect(await held.change({ ...noFaults, faults: [dnsFault] })).toMatchObject({
      problem: null,
      faults: [{ text: dnsFault, hits: 0 }],
    });
    expect(await rcode()).toMatchObject({ rcode: "SERVFAIL" });
    const both = { ...noFaults, faults: ["dns:drop:none.test", dnsFault] };
    expect((await held.change(both)).faults.map(({ hits }) => hits)).toEqual([0, 1]);
    await held.close();
    expect(await rcode()).toMatchObject({ rcode: "NOERROR" });

    const child = await startChild("faults-process.ts", folder, apiUrl, dnsFault);
    expect(JSON.parse(child.line)).toMatchObject({ problem: null });
    expect(await rcode()).toMatchObject({ rcode: "SERVFAIL" });
    await child.kill();
    await expect.poll(rcode, waiting).toMatchObject({ rcode: "NOERROR" });
    const faults = await fetch(`${apiUrl}/ledge/query_faults`, { headers: credentials });
    expect(await faults.json()).toMatchObject({ result: [] });
  });

  it("are refused with a sentence where they have no effect", async () => {
    const server = await startTestDns({ hosts: ["127.0.0.1"] });
    onTestFinished(server.stop);
    const apiUrl = new URL(server.dns.url).origin;
    const held = holdFaults(temporaryFolder(), async () => ({
      apiUrl,
      addresses: [],
      headers: credentials,
    }));
    const elsewhere = `${dnsFault}:server=127.0.0.9`;
    expect(await held.change({ ...noFaults, faults: [elsewhere] })).toMatchObject({
      problem: '"server" is "127.0.0.9", which is no address of this server. Use 127.0.0.1.',
    });
    const here = { ...noFaults, faults: [`${dnsFault}:server=127.0.0.1`] };
    expect(await held.change(here)).toMatchObject({ problem: null });
  });

  it("need the credentials of the owner", async () => {
    const server = await startTestDns({});
    onTestFinished(server.stop);
    const apiUrl = new URL(server.dns.url).origin;
    const held = holdFaults(temporaryFolder(), async () => ({
      apiUrl,
      addresses: [],
      headers: {},
    }));
    const state = await held.change({ ...noFaults, faults: [dnsFault] });
    expect(state.problem).toContain("The record API does not take the faults of DNS queries");
  });
});
