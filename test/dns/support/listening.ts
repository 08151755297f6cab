/** DNS as people start it, on ports of its own, with a client of its API. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDns, type RunningDns, type StartDnsOptions } from "../../../dist/index.js";
import { Client } from "./client.ts";

export interface Listening {
  readonly dns: RunningDns;
  readonly port: number;
  readonly client: Client;
  readonly folder: string;
  readonly said: readonly string[];
  readonly stop: () => Promise<void>;
}

export async function startListening(
  table: Readonly<Record<string, unknown>> = {},
  options: StartDnsOptions & { readonly folder?: string } = {},
): Promise<Listening> {
  const { folder = mkdtempSync(join(tmpdir(), "ledge-listen-")), ...rest } = options;
  const configPath = join(folder, "wrangler.json");
  writeFileSync(configPath, JSON.stringify({ dns: table }));
  const said: string[] = [];
  const log = (text: string): void => void said.push(text);
  const dns = await startDns({ configPath, port: 0, dnsPort: 0, log, ...rest });
  return {
    dns,
    port: dns.dnsPort ?? 0,
    client: new Client(dns.url),
    folder,
    said,
    async stop() {
      await dns.stop();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
