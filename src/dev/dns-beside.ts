/** The companion worker beside a script: started again when what the configuration says of it changes. */
import { isDeepStrictEqual } from "node:util";
import { readConfig } from "../../worker/config.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { startDns, type RunningDns } from "../dns/start.ts";
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
    const { email, key } = readConfig(this.#config.dns.variables);
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
    this.#running = await startDns(options);
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
