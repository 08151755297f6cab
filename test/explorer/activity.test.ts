/** The activity: requests of a script with their calls, and what other programs do. */
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Miniflare } from "miniflare";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startS3 } from "../../dist/index.js";
import { observeScript, ScriptConsole } from "../../src/dev/script-console.ts";
import type {
  ActivityBatch,
  ActivityEntry,
  Change,
  RequestEntry,
} from "../../src/explorer/api/activity.ts";
import { ActivityLog, ChangeFeed } from "../../src/explorer/server/activity-log.ts";
import { ActivitySources } from "../../src/explorer/server/activity-sources.ts";
import { clientHeader } from "../../src/dns/rules/api-call.ts";
import { credentials } from "../dns/support/client.ts";
import { DohClient, UdpClient } from "../dns/support/dns-client.ts";
import { startTestDns } from "../dns/support/running-dns.ts";
import { S3TestClient } from "../s3/support/s3-client.ts";
import { remoteOptions } from "../support/remote-bucket.ts";
import { StoreProject } from "../support/store-command.ts";
import { temporaryFolder } from "../support/store.ts";
import { bucketEntry, plugin, worker } from "../support/worker.ts";
import { useExplorer } from "./support/explorer.ts";

const waiting = { timeout: 60_000, interval: 20 };

/** A script in Miniflare whose invocations are added to the activity. */
async function startScript(
  script: string,
  { bucket, ...options }: { date?: string; bucket?: object } = {},
) {
  const activity = new ActivityLog();
  const console = new ScriptConsole("none");
  observeScript(console, activity);
  const { config } = worker(script, options);
  const env = {
    PHOTOS: bucketEntry({ bucket_name: "photos", observed: true, ...bucket }),
    KV: { type: "kv" as const, id: "kv" },
    ACTIVITY: {
      type: "unsafe:activity" as const,
      dev: { plugin: { ...plugin, name: "activity" }, options: {} },
    },
  };
  const miniflare = new Miniflare({
    resourcePersistencePath: temporaryFolder(),
    handleStructuredLogs: (log) => console.write(log),
    workers: [{ config: { ...config, env } }],
  });
  onTestFinished(() => miniflare.dispose());
  const url = (await miniflare.ready).href;
  const requests = () => activity.after(0).entries as readonly RequestEntry[];
  const requestOf = (path: string): Promise<RequestEntry> =>
    vi.waitFor(() => {
      const found = requests().find((entry) => entry.url === `${url}${path}`);
      if (found === undefined) throw new Error(`No entry of ${path}`);
      return found;
    }, waiting);
  return { url, requests, requestOf };
}

/** A server that answers each request when `until` has settled. */
async function startOther(until = Promise.resolve()): Promise<string> {
  const server = createServer((_, response) => void until.then(() => response.end("other")));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const key = 'a <b>"&\u{1f600}\u202e.txt';

describe("the requests of a script", () => {
  it.each(["2026-08-01", "2024-01-01", "2022-06-01"])(
    "have their calls in order, at the date %s",
    async (date) => {
      const other = await startOther();
      const { url, requestOf } = await startScript(
        `export default {
          async fetch(request, env) {
            if (request.url.endsWith("/favicon.ico")) return new Response(null, { status: 404 });
            await env.PHOTOS.put(${JSON.stringify(key)}, "hello");
            await env.PHOTOS.get("absent");
            try { await env.PHOTOS.get(""); } catch {}
            await env.KV.get("absent");
            await env.KV.put("k", "vv");
            await new Response(await env.KV.get("k", "stream")).text();
            await (await fetch("http://${other}/path?q=1")).text();
            console.warn("said", { n: 1 }, "x".repeat(100_000));
            return new Response("made", { status: 201 });
          },
        };`,
        { date },
      );
      expect((await fetch(`${url}page?x=1`, { method: "POST" })).status).toBe(201);
      const entry = await requestOf("page?x=1");
      expect(entry).toMatchObject({ kind: "request", method: "POST", status: 201, outcome: "ok" });
      const described = entry.calls.map((call) => {
        const { kind, method, place, subject, bytes, outcome } = call;
        return [kind, method, place, subject, bytes, outcome];
      });
      expect(described).toEqual([
        ["bucket", "put", "photos", key, 5, "ok"],
        ["bucket", "get", "photos", "absent", null, "none"],
        ["bucket", "get", "photos", "", null, "error"],
        ["kv", "get", "KV", "absent", null, "none"],
        ["kv", "put", "KV", "k", 2, "ok"],
        ["kv", "get", "KV", "k", 2, "ok"],
        ["fetch", "GET", other, "/path?q=1", 5, "ok"],
      ]);
      expect(entry.calls[2]?.note).toMatch(/^get: .* \(10020\)$/);
      let last = entry.at;
      for (const { at, milliseconds } of entry.calls) {
        expect(at).toBeGreaterThanOrEqual(last);
        expect(milliseconds).toBeGreaterThanOrEqual(0);
        last = at;
      }
      const [log] = entry.logs;
      expect(log?.level).toBe("warn");
      expect(log?.text).toMatch(/^said \{"n":1\} x{2000}…$/);
    },
  );

  it("have the calls of a remote bucket, without the requests to its service", async () => {
    const buckets = [{ name: "photos" }];
    const service = await startS3({ stateFolder: temporaryFolder(), buckets, port: 0 });
    onTestFinished(() => service.close());
    const { url, requestOf } = await startScript(
      `export default {
        async fetch(request, env) {
          if (request.url.endsWith("/favicon.ico")) return new Response(null, { status: 404 });
          await env.PHOTOS.put("a", "hello");
          await (await env.PHOTOS.get("a")).text();
          await env.PHOTOS.get("absent");
          try { await env.PHOTOS.get(""); } catch {}
          await env.PHOTOS.list();
          await env.PHOTOS.delete("a");
          return new Response("made");
        },
      };`,
      { bucket: remoteOptions({ endpoint: service.url, ...service.credentials }, "live/") },
    );
    expect(await (await fetch(`${url}remote`)).text()).toBe("made");
    const { calls } = await requestOf("remote");
    const described = calls.map(({ kind, method, place, subject, bytes, outcome }) => {
      return [kind, method, place, subject, bytes, outcome];
    });
    expect(described).toEqual([
      ["bucket", "put", "photos", "a", 5, "ok"],
      ["bucket", "get", "photos", "a", 5, "ok"],
      ["bucket", "get", "photos", "absent", null, "none"],
      ["bucket", "get", "photos", "", null, "error"],
      ["bucket", "list", "photos", "", null, "ok"],
      ["bucket", "delete", "photos", "a", null, "ok"],
    ]);
    expect(JSON.stringify(calls)).not.toContain(service.credentials.secretAccessKey);
  });

  it("have the exceptions that the script throws, with their stacks", async () => {
    const { url, requestOf } = await startScript(
      `export default {
        fetch() {
          throw new TypeError("broken on purpose");
        },
      };`,
    );
    await fetch(`${url}broken`).catch(() => {});
    const entry = await requestOf("broken");
    expect(entry).toMatchObject({ outcome: "error", note: "TypeError: broken on purpose" });
    expect(entry.exceptions).toMatchObject([{ name: "TypeError", message: "broken on purpose" }]);
    expect(entry.exceptions?.[0]?.stack).toMatch(/at .*fetch/);
  });

  it("have the time until a call has settled, and calls that began together", async () => {
    const { url, requestOf } = await startScript(
      `export default {
        async fetch(request, env) {
          let send;
          const { readable, writable } = new FixedLengthStream(5);
          const stored = env.PHOTOS.put("slow", readable);
          const heads = Promise.all([env.PHOTOS.head("a"), env.PHOTOS.head("b")]);
          await heads;
          await scheduler.wait(300);
          const writer = writable.getWriter();
          await writer.write(new TextEncoder().encode("hello"));
          await writer.close();
          await stored;
          return new Response();
        },
      };`,
    );
    await fetch(url);
    const { calls } = await requestOf("");
    expect(calls.map(({ method, subject, bytes }) => [method, subject, bytes])).toEqual([
      ["put", "slow", 5],
      ["head", "a", null],
      ["head", "b", null],
    ]);
    // The script has waited between the start of the call and its content.
    expect(calls[0]?.milliseconds).toBeGreaterThanOrEqual(290);
  });

  it("are reported while they run, and again at their end", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const other = await startOther(promise);
    const { url, requests } = await startScript(
      `export default {
        async fetch(request, env) {
          await env.PHOTOS.head("a");
          return fetch("http://${other}/");
        },
      };`,
    );
    const done = fetch(`${url}long`);
    await vi.waitFor(() => expect(requests()).toHaveLength(1), waiting);
    const [running] = requests();
    expect(running).toMatchObject({ status: null, note: "Still running." });
    expect(running?.calls.map(({ note }) => note)).toEqual([null, "The call has not ended."]);
    resolve();
    await (await done).text();
    await vi.waitFor(() => expect(requests()).toHaveLength(2), waiting);
    expect(requests()[1]).toMatchObject({ replaces: running?.id, status: 200, note: null });
  });
});

function isAbout(subject: string): (entry: ActivityEntry) => boolean {
  return (entry) => "subject" in entry && entry.subject === subject;
}

describe("what other programs do", () => {
  const used = useExplorer({ buckets: ["photos"] });

  /** The entries that a page receives from now on. */
  async function openPage() {
    const closing = new AbortController();
    onTestFinished(() => closing.abort());
    const response = await used.fetch("/api/activity?after=0", { signal: closing.signal });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const entries: ActivityEntry[] = [];
    const read = async (): Promise<void> => {
      let text = "";
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        text += new TextDecoder().decode(chunk);
        const messages = text.split("\n\n");
        text = messages.pop() ?? "";
        for (const message of messages) {
          const data = /^data: (.*)$/m.exec(message)?.[1];
          if (data !== undefined) entries.push(...(JSON.parse(data) as ActivityBatch).entries);
        }
      }
    };
    void read().catch(() => {});
    return entries;
  }

  it("is in the stream: calls by the S3-compatible API, by requests and by channels", async () => {
    const s3 = await startS3({
      stateFolder: used.stateFolder,
      port: 0,
      buckets: [{ name: "photos" }],
    });
    onTestFinished(() => s3.close());
    const client = new S3TestClient(s3);
    const entries = await openPage();
    // The page follows when the owner has been asked.
    await vi.waitFor(async () => {
      await client.send({ method: "PUT", target: "/photos/first", body: "x" });
      expect(entries.length).toBeGreaterThan(0);
    }, waiting);
    for (const target of ["/photos/a%20b", "/photos/c", "/photos/d"]) {
      await client.send({ method: "PUT", target, body: "hello" });
    }
    await client.send({ method: "GET", target: "/photos/absent" });
    await vi.waitFor(() => expect(entries.some(isAbout("absent"))).toBe(true), waiting);
    expect(entries.find(isAbout("a b"))).toMatchObject({
      kind: "bucket",
      source: "s3",
      method: "put",
      place: "photos",
      bytes: 5,
      outcome: "ok",
    });
    expect(entries.find(isAbout("absent"))).toMatchObject({
      source: "s3",
      method: "get",
      outcome: "none",
    });
    expect(entries.map(({ id }) => id)).toEqual(entries.map(({ id }) => id).sort((a, b) => a - b));
  });
});

it("calls of the command line appear, also at the next owner", async () => {
  const project = new StoreProject();
  const miniflare = await project.serve();
  const activity = new ActivityLog();
  const sources = new ActivitySources({
    storeFolder: `${project.persistPath}/store`,
    dns: async () => null,
    activity,
    changes: new ChangeFeed(),
    remoteNames: () => [],
    hasRequests: async () => false,
  });
  onTestFinished(() => sources.close());
  onTestFinished(activity.follow(() => {}));
  const file = project.write("file.txt", "hello");
  const sourceOf = (name: string) =>
    activity
      .after(0)
      .entries.flatMap((entry) =>
        entry.kind === "bucket" && entry.subject === name ? entry.source : [],
      );
  const putUntilSeen = (name: string) =>
    vi.waitFor(
      async () => {
        expect((await project.store("put", `photos/${name}`, file)).errors).toBe("");
        await vi.waitFor(() => expect(sourceOf(name)).not.toEqual([]), { timeout: 1000 });
      },
      { timeout: 80_000 },
    );
  await putUntilSeen("one");
  expect(new Set(sourceOf("one"))).toEqual(new Set(["command line"]));
  await miniflare.dispose();
  await project.serve();
  await putUntilSeen("two");
});

it("every list may be out of date when a store gets its first owner", async () => {
  const project = new StoreProject();
  const storeFolder = `${project.persistPath}/store`;
  mkdirSync(storeFolder, { recursive: true });
  const changes = new ChangeFeed();
  const sources = new ActivitySources({
    storeFolder,
    dns: async () => null,
    activity: new ActivityLog(),
    changes,
    remoteNames: () => [],
    hasRequests: async () => false,
  });
  onTestFinished(() => sources.close());
  const told: Change[] = [];
  onTestFinished(changes.follow((change) => void told.push(change)));
  await changes.whenWatching();
  expect(told).toEqual([]);
  await project.serve();
  await vi.waitFor(() => expect(told).toEqual([{ topic: "all" }]), waiting);
});

it("DNS queries and calls of the record API appear, and the log of a test stays", async () => {
  const server = await startTestDns({
    zones: [{ name: "example.org", records: [{ type: "A", name: "www", content: "192.0.2.1" }] }],
  });
  onTestFinished(server.stop);
  const { origin } = new URL(server.dns.url);
  const explorer = { ...credentials, [clientHeader]: "explorer" };
  const activity = new ActivityLog();
  const sources = new ActivitySources({
    storeFolder: temporaryFolder(),
    dns: async () => ({ apiUrl: origin, addresses: [], headers: explorer }),
    activity,
    changes: new ChangeFeed(),
    remoteNames: () => [],
    hasRequests: async () => true,
  });
  const control = (method: string, path: string) =>
    fetch(`${origin}${path}`, { method, headers: credentials });
  const udp = new UdpClient(server.port);
  const https = new DohClient(server.dns.url);
  onTestFinished(() => udp.close());
  const entries = () => activity.after(0).entries;
  const found = (subject: string) => entries().filter(isAbout(subject));

  await udp.ask("before.example.org", "A");
  const askUntilFound = (name: string): Promise<void> =>
    vi.waitFor(async () => {
      await udp.ask(name, "A");
      expect(found(name)).not.toEqual([]);
    }, waiting);
  const leaveOnce = activity.follow(() => {});
  await askUntilFound("first.example.org");
  // A page that is opened again gets each query once.
  leaveOnce();
  const leave = activity.follow(() => {});
  await askUntilFound("again.example.org");
  expect(found("before.example.org")).toHaveLength(1);
  const [before] = found("before.example.org");
  expect(before).toMatchObject({ kind: "query", source: "udp", outcome: "none" });
  expect(Number.isInteger(before?.milliseconds)).toBe(false);
  // A log of a test that begins and ends meanwhile.
  expect((await control("GET", "/ledge/queries")).status).toBe(409);
  expect((await control("PUT", "/ledge/queries")).status).toBe(200);
  await udp.ask("www.example.org", "A");
  await https.ask("absent.example.org", "AAAA");
  await server.client.ok("GET", "/zones?name=example.org");
  await control("GET", "/client/v4/zones/none");
  await fetch(`${origin}/client/v4/zones?of=explorer`, { headers: explorer });
  await fetch(`${origin}/client/v4/zones?of=script`, {
    headers: { ...credentials, "cf-worker": "script.example.com" },
  });
  await fetch(`${origin}/dns-query?name=explorer.example.org`, { headers: explorer });
  await server.client.ok("GET", "/zones?name=last");
  await vi.waitFor(() => expect(found("/client/v4/zones?name=last")).toHaveLength(1), waiting);
  expect(found("www.example.org")).toMatchObject([
    { kind: "query", source: "udp", method: "A", outcome: "ok", note: null },
  ]);
  expect(found("absent.example.org")).toMatchObject([
    { kind: "query", source: "https", method: "AAAA", outcome: "none", note: "NXDOMAIN" },
  ]);
  expect(found("/client/v4/zones?name=example.org")).toMatchObject([
    { kind: "api", source: "http", method: "GET", outcome: "ok" },
  ]);
  expect(found("/client/v4/zones/none")).toMatchObject([
    { outcome: "error", note: expect.stringMatching(/\(\d+\)$/) },
  ]);
  const others = entries().filter(
    (entry) => "subject" in entry && /of=|explorer|ledge/.test(entry.subject),
  );
  expect(others).toEqual([]);

  leave();
  await sources.close();
  const logged = (await (await control("GET", "/ledge/queries")).json()) as { result: unknown[] };
  expect(logged.result).toMatchObject([
    { name: "www.example.org" },
    { name: "absent.example.org" },
    { name: "explorer.example.org" },
  ]);
  await control("DELETE", "/ledge/queries");
});
