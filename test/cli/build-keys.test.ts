/**
 * The keys of a service in a file, which are changed while a runtime of `ledge build` works; and a service that ignores
 * conditions.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { build, clusterProject, serve } from "../support/edge-runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const script = `
export default {
  async fetch(request, { PHOTOS }) {
    const key = new URL(request.url).pathname.slice(1);
    try {
      await PHOTOS.put(key, "content of " + key);
      return new Response((await PHOTOS.get(key)).body);
    } catch (error) {
      return new Response(error.message, { status: 500 });
    }
  },
};
`;

it("no request fails while the keys are changed", async () => {
  const service = await startService();
  const folder = temporaryFolder();
  const secrets = join(folder, "secrets");
  mkdirSync(secrets);
  const project = clusterProject(
    join(folder, "project"),
    {
      endpoint: service.endpoint,
      keys_file: "secrets/cluster.env",
      accept: ["conditional-put", "conditional-complete", "conditional-delete"],
    },
    { "index.js": script },
  );
  // The file of keys is not on the machine of the build.
  const made = await build(project, "--no-probe");
  const runtime = await serve(made, {}, { after: [`--directory-path=keys=${secrets}`] });
  expect(runtime.isRunning).toBe(true);
  const early = await (await runtime.fetch("early")).text();
  expect(early).toContain('The file of keys "cluster.env" cannot be used');

  const write = (id: string): void => {
    const lines = [
      `LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID=${id}`,
      "LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY=s",
    ];
    writeFileSync(join(secrets, "new"), lines.join("\n"));
    renameSync(join(secrets, "new"), join(secrets, "cluster.env"));
  };
  service.allow("first");
  write("first");

  const load = new AbortController();
  let done = 0;
  const failures: string[] = [];
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let index = 0; !load.signal.aborted; index++) {
      const key = `${client}-${index}`;
      const text = await (await runtime.fetch(key)).text();
      if (text !== `content of ${key}`) failures.push(text);
      done++;
    }
  });
  const progress = (count: number) => {
    const goal = done + count;
    return vi.waitFor(() => expect(done).toBeGreaterThan(goal), { timeout: 60_000, interval: 10 });
  };
  await progress(50);
  for (const id of ["second", "third"]) {
    write(id);
    // The old keys end at once, before the runtime looks at the file by itself.
    service.allow(id);
    await progress(50);
  }
  load.abort();
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(service.refused()).toBeGreaterThan(0);
});

it("a runtime refuses writes to a service that ignores conditions, and says what is missing", async () => {
  const service = await startService();
  service.allow("first");
  const cluster = { endpoint: service.endpoint };
  const project = clusterProject(temporaryFolder(), cluster, { "index.js": script });
  const made = await build(project, "--no-probe");
  const runtime = await serve(made, {
    LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID: "first",
    LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY: "s",
  });
  const response = await runtime.fetch("a");
  expect(response.status).toBe(500);
  expect(await response.text()).toMatch(
    /lacks conditional-put: it ignores If-None-Match and If-Match of a put\. Two writers .* accept = /s,
  );
});

/** A service with one bucket that knows one access key id at a time, and verifies neither signatures nor conditions. */
async function startService() {
  const objects = new Map<string, { content: Buffer; headers: Record<string, string> }>();
  let allowed = "none";
  let refused = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, headers, url = "" } = request;
      const fail = (status: number, code: string): void => {
        response.writeHead(status, { "content-type": "application/xml" });
        response.end(method === "HEAD" ? "" : `<Error><Code>${code}</Code></Error>`);
      };
      if (!headers.authorization?.includes(`Credential=${allowed}/`)) {
        refused++;
        return fail(403, "InvalidAccessKeyId");
      }
      const path = url.split("?")[0] as string;
      if (path === "/photos") {
        const name = url.includes("versioning") ? "VersioningConfiguration" : "ListBucketResult";
        return void response.end(`<${name}></${name}>`);
      }
      if (method === "PUT") {
        const content = Buffer.concat(chunks);
        const etag = `"${createHash("md5").update(content).digest("hex")}"`;
        const kept = Object.entries(headers).filter(([name]) =>
          /^(?:x-amz-meta|content-t)/.test(name),
        );
        const modified = { etag, "last-modified": new Date().toUTCString() };
        objects.set(path, {
          content,
          headers: { ...(Object.fromEntries(kept) as object), ...modified },
        });
        return void response.writeHead(200, { etag }).end();
      }
      const found = objects.get(path);
      if (found === undefined) return fail(404, "NoSuchKey");
      response.writeHead(200, { ...found.headers, "content-length": found.content.length });
      response.end(method === "HEAD" ? undefined : found.content);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused: () => refused,
    allow(id: string) {
      allowed = id;
    },
  };
}
