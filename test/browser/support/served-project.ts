/** A project in `ledge dev`, for the tests of one file: a bucket, a zone and a script. */
import { afterAll, beforeAll } from "vitest";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openExplorerLink } from "../../support/explorer-access.ts";
import { startDev, type RunningDev, type StartDevOptions } from "../../../dist/index.js";

export interface ServedProject {
  readonly dev: RunningDev;
  readonly folder: string;
  /** With the token. */
  readonly explorerUrl: string;
  /** The address of the page, without a slash at its end. */
  readonly origin: string;
  /** A request of a program that has the cookie. */
  call<Result>(path: string, init?: RequestInit): Promise<Result>;
  /** The same, with the response as it is. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));

/** Puts what is sent, and answers with what is stored. */
const script = `
export default {
  async fetch(request, env) {
    const key = decodeURIComponent(new URL(request.url).pathname.slice(1));
    if (request.method === "PUT") {
      const { etag } = await env.PHOTOS.put(key, request.body, { httpMetadata: request.headers });
      return new Response(etag);
    }
    console.log("looking for", key);
    const object = await env.PHOTOS.get(key);
    return object === null ? new Response("Not found", { status: 404 }) : new Response(object.body);
  },
};
`;

/** @param keys of the configuration, made when the project starts: they may name a server of the test */
export function serveProject(
  options: StartDevOptions = {},
  keys: () => Promise<object> | object = () => ({}),
): ServedProject {
  const folder = mkdtempSync(join(tmpdir(), "ledge-browser-"));
  const used = { folder } as { -readonly [Name in keyof ServedProject]: ServedProject[Name] };
  let cookie = "";
  beforeAll(async () => {
    symlinkSync(modules, join(folder, "node_modules"), "dir");
    writeFileSync(join(folder, "index.js"), script);
    writeFileSync(
      join(folder, "wrangler.json"),
      JSON.stringify({
        name: "gallery",
        main: "index.js",
        compatibility_date: "2026-08-01",
        store_buckets: [
          { binding: "PHOTOS", bucket_name: "photos" },
          { binding: "BACKUP", bucket_name: "backup" },
        ],
        dns: { zones: [{ name: "example.com" }] },
        ...(await keys()),
      }),
    );
    used.dev = await startDev({
      configPath: join(folder, "wrangler.json"),
      port: 0,
      s3Port: 0,
      explorerPort: 0,
      dnsPort: 0,
      dnsApiPort: 0,
      log: () => {},
      logLevel: "none",
      ...options,
    });
    await used.dev.ready;
    used.explorerUrl = used.dev.explorerUrl as string;
    ({ address: used.origin, cookie } = await openExplorerLink(used.explorerUrl));
  });
  used.fetch = (path, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("cookie", cookie);
    return fetch(`${used.origin}${path}`, { ...init, headers });
  };
  used.call = async <Result>(path: string, init: RequestInit = {}) => {
    const response = await used.fetch(path, init);
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return (text === "" ? undefined : JSON.parse(text)) as Result;
  };
  afterAll(async () => {
    await used.dev?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  return used;
}

/** Replaces the faults, the latency and the clock of a project; without an argument, ends all. */
export async function switchFaults(
  project: ServedProject,
  {
    faults = [],
    latencyMilliseconds = 0,
    clockOffsetMilliseconds = 0,
  }: {
    readonly faults?: readonly string[];
    readonly latencyMilliseconds?: number;
    readonly clockOffsetMilliseconds?: number;
  } = {},
): Promise<void> {
  const body = { faults, latencyMilliseconds, clockOffsetMilliseconds };
  await project.call("/api/faults", { method: "PUT", body: JSON.stringify(body) });
}
