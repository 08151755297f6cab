/** The tools that share a folder, as processes: each serves the script of `fault-script.ts`. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../support/store.ts";
import { bucketEntry, plugin } from "../../support/worker.ts";
import { FaultProcess, type FaultProcessOptions } from "./fault-process.ts";
import { faultScript } from "./fault-script.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Of an installed package, with the tools beside it (`test/tools/matrix.ts`), or of the repository. */
export const ledgeProgram = join(process.env["LEDGE_PACKAGE"] ?? root, "dist/cli.js");
/** The program itself: `wrangler.js` only starts it, and would be killed in its place. */
const wranglerProgram = join(root, "node_modules/wrangler/wrangler-dist/cli.js");
const miniflareProgram = fileURLToPath(new URL("programs/miniflare-host.ts", import.meta.url));
const dnsProgram = fileURLToPath(new URL("programs/dns-host.ts", import.meta.url));

export const zoneName = "example.com";

/** A project that `ledge` and stock wrangler can run. */
export class FaultProject {
  readonly folder = temporaryFolder();
  readonly persistPath = join(this.folder, ".wrangler/state/v3");

  constructor({ dns = false } = {}) {
    const common = { name: "faults", main: "index.js", compatibility_date: "2026-08-01" };
    mkdirSync(this.persistPath, { recursive: true });
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"), "dir");
    this.#write("index.js", faultScript);
    this.#write("wrangler.json", {
      ...common,
      store_buckets: [{ binding: "BUCKET", bucket_name: "photos" }],
      ...(dns && { dns: { zones: [{ name: zoneName }] } }),
    });
    const { dev } = bucketEntry({ bucket_name: "photos" });
    this.#write("stock.json", {
      ...common,
      unsafe: { bindings: [{ name: "BUCKET", type: "store_bucket", dev: { ...dev, plugin } }] },
    });
  }

  #write(name: string, content: string | object): void {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    writeFileSync(join(this.folder, name), text);
  }
}

/** A running tool. */
export interface Tool {
  readonly name: string;
  readonly process: FaultProcess;
  /** Of the script, or of the record API. */
  readonly url: string;
}

/** A tool that can be loaded before it starts, so that a restart takes less time. */
export interface PreparedTool {
  readonly process: FaultProcess;
  start(): Promise<Tool>;
}

export function prepareMiniflare(
  persistPath: string,
  options: FaultProcessOptions & { readonly before?: string[] } = {},
): PreparedTool {
  const { before = [], ...rest } = options;
  const words = [miniflareProgram, persistPath];
  const command = before.length === 0 ? words : [...before, process.execPath, ...words];
  const child = new FaultProcess(command, rest);
  return {
    process: child,
    async start() {
      child.send("start");
      const [, url] = await child.waitForOutput(/^url (\S+?)\/?$/m);
      return { name: "miniflare", process: child, url: url as string };
    },
  };
}

export function startMiniflare(...words: Parameters<typeof prepareMiniflare>): Promise<Tool> {
  return prepareMiniflare(...words).start();
}

export function prepareDns(project: FaultProject): PreparedTool {
  const child = new FaultProcess([dnsProgram, project.folder]);
  return {
    process: child,
    async start() {
      child.send("start");
      const [, url] = await child.waitForOutput(/^url (\S+) \d+$/m);
      return { name: "dns", process: child, url: url as string };
    },
  };
}

/** Ports that `ledge dev` prints: of the script, of the record API and of DNS. */
export interface DevPorts {
  readonly script: string;
  readonly api: string;
  readonly dns: string;
}

/** @param ports that the tool must get; without them, free ports and no DNS */
export async function startLedgeDev(
  { folder }: FaultProject,
  ports?: DevPorts,
): Promise<Tool & { readonly ports: () => Promise<DevPorts> }> {
  const words =
    ports === undefined
      ? ["--port", "0", "--no-dns"]
      : ["--port", ports.script, "--dns-api-port", ports.api, "--dns-port", ports.dns];
  const command = [ledgeProgram, "dev", "--inspector-port", "0", ...words];
  const child = new FaultProcess(command, { folder });
  const [, url] = await child.waitForOutput(/^Ready +(\S+)$/m);
  return {
    name: "ledge dev",
    process: child,
    url: url as string,
    async ports() {
      const [, api] = await child.waitForOutput(/^DNS API +http:\/\/127\.0\.0\.1:(\d+)/m);
      const [, dns] = await child.waitForOutput(/^DNS +127\.0\.0\.1:(\d+)/m);
      return { script: new URL(url as string).port, api: api as string, dns: dns as string };
    },
  };
}

export async function startWrangler({ folder }: FaultProject): Promise<Tool> {
  const words = ["--config", "stock.json", "--port", "0", "--inspector-port", "0"];
  const child = new FaultProcess([wranglerProgram, "dev", ...words], { folder });
  const [, url] = await child.waitForOutput(/Ready on (http:\/\/\S+)/);
  return { name: "wrangler dev", process: child, url: url as string };
}
