/** The companion worker beside a script: started again when what the configuration says of it changes. */
import { isDeepStrictEqual } from "node:util";
import { readDnsConfig } from "../config/dns-config.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { startDns, type RunningDns } from "../dns/server/start-dns.ts";
import { ZonesTakenError } from "../dns/server/zones-owner.ts";
import type { RemoteOptions } from "../plugin/dns-plugin.ts";

export interface DnsBesideOptions {
  readonly persistTo: string;
  readonly apiPort?: number;
  readonly dnsPort?: number;
}

export class DnsBeside {
  readonly #options: DnsBesideOptions;
  #config: ProjectConfig;
  #running: RunningDns | null = null;
  #said: string[] = [];
  /** Of another dev server that has the zones of the folder. */
  #other: { readonly email: string; readonly key: string } | null = null;

  constructor(config: ProjectConfig, options: DnsBesideOptions) {
    this.#config = config;
    this.#options = options;
  }

  /** What it said of itself when it started. */
  get said(): readonly string[] {
    return this.#said;
  }

  /** How a script reaches it. */
  get remote(): RemoteOptions {
    const { email, key } = this.#other ?? readDnsConfig(this.#config.dns.variables);
    return { address: new URL((this.#running as RunningDns).url).host, email, key };
  }

  async start(): Promise<void> {
    const { path, environment } = this.#config;
    const { apiPort, dnsPort, persistTo } = this.#options;
    this.#said = [];
    const options = {
      ...(path !== null && { configPath: path }),
      ...(environment !== undefined && { environment }),
      ...(apiPort !== undefined && { port: apiPort }),
      ...(dnsPort !== undefined && { dnsPort }),
      persistTo,
      log: (text: string) => void this.#said.push(text),
    };
    this.#other = null;
    try {
      this.#running = await startDns(options);
    } catch (error) {
      if (!(error instanceof ZonesTakenError)) throw error;
      this.#running = this.#share(error);
    }
  }

  /** Two dev servers on one folder have one DNS, that of the first. */
  #share(taken: ZonesTakenError): RunningDns {
    const { processId, addresses } = taken.owner;
    if (addresses === undefined) throw taken;
    const { url, dns, email, key } = addresses;
    this.#other = { email, key };
    this.#said.push(`DNS API    ${url} (of process ${processId}, for as long as that runs)`);
    return { url, dnsPort: dns?.port ?? null, stop: async () => {} };
  }

  /** Goes on with another configuration; nothing happens if that says the same of DNS. */
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
