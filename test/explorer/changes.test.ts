/** `/api/changes`: the page hears of every change, whichever program has made it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Change } from "../../src/explorer/api/activity.ts";
import type { ProjectInfo } from "../../src/explorer/api/project.ts";
import type { DnsEnvelope, DnsZone } from "../../src/explorer/api/zones-api.ts";
import { serveProject } from "../browser/support/served-project.ts";
import { credentials } from "../dns/support/client.ts";
import { S3TestClient } from "../s3/support/s3-client.ts";
import { RunningCommand } from "../support/store-command.ts";

const waiting = { timeout: 30_000, interval: 20 };
const project = serveProject({}, () => ({ kv_namespaces: [{ binding: "CACHE", id: "cache" }] }));
let zones = 0;

/** The changes that a page receives from now on. */
async function openPage() {
  const closing = new AbortController();
  onTestFinished(() => closing.abort());
  const response = await project.fetch("/api/changes", { signal: closing.signal });
  const changes: Change[] = [];
  const read = async (): Promise<void> => {
    let text = "";
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      const messages = text.split("\n\n");
      text = messages.pop() ?? "";
      for (const message of messages) {
        const data = /^data: (.*)$/m.exec(message)?.[1];
        if (data !== undefined) changes.push(...(JSON.parse(data) as Change[]));
      }
    }
  };
  void read().catch(() => {});
  const until = (change: Change, act: () => Promise<unknown>, isRepeated = false): Promise<void> =>
    vi.waitFor(async () => {
      if (isRepeated || !hasActed) {
        hasActed = true;
        await act();
      }
      expect(changes).toContainEqual(change);
    }, waiting);
  let hasActed = false;
  return {
    /** The changes that `act` makes, after the expected changes have arrived. */
    async after(act: () => Promise<unknown>, ...expected: readonly Change[]): Promise<Change[]> {
      changes.length = 0;
      hasActed = false;
      for (const change of expected) await until(change, act);
      return changes;
    },
    /** The server asks for changes from the first answer of each source on. */
    async ready(): Promise<void> {
      await until(photos, () => putByScript("first"), true);
      await until({ topic: "zones" }, () => createZone(`first-${++zones}.example`), true);
    },
  };
}

const photos: Change = { topic: "objects", bucket: "photos" };

function putByScript(key: string): Promise<Response> {
  return fetch(new URL(key, project.dev.url), { method: "PUT", body: "x" });
}

const headers = { "content-type": "application/json" };

function createZone(name: string): Promise<Response> {
  const body = JSON.stringify({ name });
  return project.fetch("/api/dns/zones", { method: "POST", body, headers });
}

async function zoneId(name: string): Promise<string> {
  const { result } = await project.call<DnsEnvelope<DnsZone[]>>(`/api/dns/zones?name=${name}`);
  return result[0]?.id as string;
}

it("hears of objects, uploads and buckets that other programs change", async () => {
  const page = await openPage();
  await page.ready();
  await page.after(() => putByScript("by-script"), photos);

  const { s3 } = await project.call<ProjectInfo>("/api/project");
  if (s3 === null || !("secretAccessKey" in s3))
    throw new Error("The project has no S3 address with a secret of Ledge.");
  const client = new S3TestClient({ port: Number(new URL(s3.url).port), credentials: s3 });
  const put = (target: string) => client.send({ method: "PUT", target, body: "x" });
  await page.after(() => put("/photos/by-s3"), photos);
  const create = () => client.send({ method: "PUT", target: "/by-s3" });
  await page.after(create, { topic: "buckets" });
  const begin = () => client.send({ method: "POST", target: "/photos/large?uploads" });
  await page.after(begin, { topic: "uploads", bucket: "photos" });

  writeFileSync(join(project.folder, "file.txt"), "x");
  const words = ["store", "put", "backup/by-command", "file.txt"];
  const command = () => new RunningCommand(project.folder, words).end();
  const changed = await page.after(command, { topic: "objects", bucket: "backup" });
  expect(changed).not.toContainEqual(photos);
});

it("hears of zones and records, of other pages, of tasks and of faults", async () => {
  const page = await openPage();
  await page.ready();
  const zone = await zoneId("example.com");
  const { dns } = await project.call<ProjectInfo>("/api/project");
  const record = { type: "A", name: "www", content: "192.0.2.1" };
  const byProgram = () =>
    fetch(`${dns?.apiUrl}/client/v4/zones/${zone}/dns_records`, {
      method: "POST",
      body: JSON.stringify(record),
      headers: { ...headers, ...credentials },
    });
  await page.after(byProgram, { topic: "records", zone });
  const created = await page.after(() => createZone("second.example"), { topic: "zones" });
  expect(created).not.toContainEqual({ topic: "records", zone });

  const byPage = () =>
    project.call("/api/buckets/photos/content?key=page", { method: "PUT", body: "x" });
  await page.after(byPage, photos);

  const selection = { bucket: "photos", keys: ["page"], prefixes: [] };
  const to = { bucket: "backup", key: "copied" };
  const copy = { kind: "copy", ...selection, to, overwrite: true };
  await page.after(
    () => project.call("/api/tasks", { method: "POST", body: JSON.stringify(copy) }),
    { topic: "tasks" },
    { topic: "objects", bucket: "backup" },
  );
  const none = { faults: [], latencyMilliseconds: 0 };
  const moved = JSON.stringify({ ...none, clockOffsetMilliseconds: 1000 });
  await page.after(() => project.call("/api/faults", { method: "PUT", body: moved }), {
    topic: "faults",
  });
});

it("the project names wrangler's page for the bindings that the explorer does not show", async () => {
  const { wranglerUrl } = await project.call<ProjectInfo>("/api/project");
  const response = await fetch(wranglerUrl as string);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/html");
});

it("hears of the start of the script, and that calls at its store may be unknown", async () => {
  const page = await openPage();
  const expected = [{ topic: "project" }, { topic: "all" }] as const;
  const changed = await page.after(() => project.dev.restart(), ...expected);
  expect(changed).toContainEqual({ topic: "zones" });
  // The same stream goes on, from the first answer of the new runtime.
  await page.ready();
});
