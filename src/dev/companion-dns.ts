/**
 * DNS beside a script: the companion worker in a runtime of its own. It restarts when its part of
 * the configuration changes.
 */
import { isDeepStrictEqual } from "node:util";
import { stateFolder } from "../base/state-folder.ts";
import { readDnsConfig } from "../config/dns-config.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { startDns, type RunningDns } from "../dns/server/start-dns.ts";
import { ZonesTakenError } from "../dns/server/zones-owner.ts";
import type { RemoteOptions } from "../dns/server/companion.ts";
import type { StartDevOptions } from "./dev-options.ts";

export class CompanionDns {
  readonly #options: StartDevOptions;
  readonly #stateFolder: string;
  #config: ProjectConfig;
  #running: RunningDns | null = null;
  #lines: string[] = [];
  /** The credentials of another dev server, if that server owns the zones of the folder. */
  #owner: { readonly email: string; readonly key: string } | null = null;

  constructor(config: ProjectConfig, options: StartDevOptions) {
    this.#config = config;
    this.#options = options;
    this.#stateFolder = stateFolder(config.folder, options.persistTo);
  }

  /** The lines that DNS printed at its start. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The options of a script's binding to this DNS. */
  get remote(): RemoteOptions {
    const { email, key } = this.#owner ?? readDnsConfig(this.#config.dns.variables);
    return { address: new URL((this.#running as RunningDns).url).host, email, key };
  }

  async start(): Promise<void> {
    const { path, environment } = this.#config;
    const { dnsApiPort, dnsPort } = this.#options;
    this.#lines = [];
    this.#owner = null;
    const options = {
      ...(path !== null && { configPath: path }),
      ...(environment !== undefined && { environment }),
      ...(dnsApiPort !== undefined && { port: dnsApiPort }),
      ...(dnsPort !== undefined && { dnsPort }),
      persistTo: this.#stateFolder,
      log: (line: string) => void this.#lines.push(line),
    };
    try {
      this.#running = await startDns(options);
    } catch (error) {
      if (!(error instanceof ZonesTakenError)) throw error;
      this.#running = this.#share(error);
    }
  }

  /** Two dev servers on one folder share the DNS of the first. */
  #share(taken: ZonesTakenError): RunningDns {
    const { processId, addresses } = taken.owner;
    if (addresses === undefined) throw taken;
    const { url, dns, email, key } = addresses;
    this.#owner = { email, key };
    this.#lines.push(`DNS API    ${url} (of process ${processId}, while that process runs)`);
    return { url, dnsPort: dns?.port ?? null, stop: async () => {} };
  }

  /** Restarts DNS if the new configuration differs in `[dns]`. */
  async update(config: ProjectConfig): Promise<void> {
    const isSame = isDeepStrictEqual(config.dns, this.#config.dns);
    this.#config = config;
    if (isSame) return;
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }
}
