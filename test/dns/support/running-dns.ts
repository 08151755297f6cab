/** DNS started with startDns() on free ports, and a client of its API. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDns, type RunningDns, type StartDnsOptions } from "../../../dist/index.js";
import { Client } from "./client.ts";

export interface TestDns {
  readonly dns: RunningDns;
  readonly port: number;
  readonly client: Client;
  readonly folder: string;
  readonly lines: readonly string[];
  readonly stop: () => Promise<void>;
}

export async function startTestDns(
  table: Readonly<Record<string, unknown>> = {},
  options: StartDnsOptions & { readonly folder?: string } = {},
): Promise<TestDns> {
  const { folder = mkdtempSync(join(tmpdir(), "ledge-listen-")), ...rest } = options;
  const configPath = join(folder, "wrangler.json");
  writeFileSync(configPath, JSON.stringify({ dns: table }));
  const lines: string[] = [];
  const log = (text: string): void => void lines.push(text);
  const removeFolder = (): void => {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  const starting = startDns({ configPath, port: 0, dnsPort: 0, log, ...rest });
  // A start that is refused returns nothing that could be stopped.
  starting.catch(removeFolder);
  const dns = await starting;
  return {
    dns,
    port: dns.dnsPort ?? 0,
    client: new Client(dns.url),
    folder,
    lines,
    async stop() {
      await dns.stop();
      removeFolder();
    },
  };
}
