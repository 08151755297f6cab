/**
 * DNS beside a script: the companion worker in a runtime of its own, and the name server. DNS
 * restarts when its part of the configuration changes.
 *
 * If another process owns the zones of the folder, this process waits for the end of that process,
 * and then serves DNS itself. The script does not notice: its binding leads to the folder's socket
 * (`worker/api-proxy.ts`).
 */
import { isDeepStrictEqual } from "node:util";
import { readOwnerRecord } from "../base/folder-owner.ts";
import type { OwnerLink } from "../base/owner-link.ts";
import { pluginFolder, stateFolder } from "../base/state-folder.ts";
import { Succession } from "../base/succession.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { startServer, type RunningDns } from "../dns/server/start-dns.ts";
import {
  claimZones,
  describeOtherTable,
  findZonesOwner,
  takeZones,
  type TakeOptions,
  type Zones,
  type ZonesOwner,
} from "../dns/server/zones-owner.ts";
import type { StartDevOptions } from "./dev-options.ts";

export class CompanionDns {
  readonly #options: StartDevOptions;
  readonly #folder: string;
  #config: ProjectConfig;
  /** `null` while another process owns the zones. */
  #owner: ZonesOwner | null = null;
  #server: RunningDns | null = null;
  #succession: Succession<ZonesOwner> | null = null;
  #lines: string[] = [];
  #changes: Promise<void> = Promise.resolve();

  constructor(config: ProjectConfig, options: StartDevOptions) {
    this.#config = config;
    this.#options = options;
    this.#folder = pluginFolder(stateFolder(config.folder, options.persistTo), "dns");
  }

  /** The lines that DNS printed at its start. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  async start(): Promise<void> {
    this.#lines = [];
    const owner = await claimZones(this.#zones, this.#takeOptions);
    if (owner === null) return this.#share();
    this.#owner = owner;
    try {
      await this.#serve(owner);
    } catch (error) {
      owner.release();
      throw error;
    }
  }

  /** Restarts DNS if the new configuration differs in `[dns]`. */
  update(config: ProjectConfig): Promise<void> {
    return this.#enqueue(async () => {
      const previous = this.#config;
      this.#config = config;
      if (isDeepStrictEqual(config.dns, previous.dns)) return;
      if (this.#owner === null) return this.#share();
      try {
        await this.#restart(this.#owner);
      } catch (error) {
        this.#config = previous;
        await this.#restart(this.#owner);
        throw error;
      }
    });
  }

  async stop(): Promise<void> {
    if (this.#succession !== null) return this.#succession.stop();
    await this.#enqueue(async () => {
      await this.#server?.stop();
      this.#owner?.release();
    });
  }

  get #zones(): Zones {
    return { folder: this.#folder, variables: this.#config.dns.variables };
  }

  get #takeOptions(): TakeOptions {
    return { isBrief: false, log: (text) => this.#log(text) };
  }

  async #restart(owner: ZonesOwner): Promise<void> {
    await this.#server?.stop();
    this.#lines = [];
    await this.#serve(owner);
  }

  async #serve(owner: ZonesOwner): Promise<void> {
    const { dnsApiPort, dnsPort } = this.#options;
    this.#server = await startServer(owner, this.#config.dns, {
      ...(dnsApiPort !== undefined && { port: dnsApiPort }),
      ...(dnsPort !== undefined && { dnsPort }),
      log: (line: string) => void this.#lines.push(line),
    });
  }

  /** Uses the DNS of another process, until that process ends. */
  async #share(): Promise<void> {
    const record = await findZonesOwner(this.#folder);
    const { addresses, processId } = record ?? {};
    const warning = describeOtherTable(this.#zones);
    this.#lines = [
      `DNS API    ${addresses?.url ?? "starts"} (of process ${processId}, while that process runs)`,
      ...(warning === null ? [] : [warning]),
    ];
    this.#succession ??= new Succession<ZonesOwner>({
      folder: this.#folder,
      take: () => takeZones(this.#zones, this.#takeOptions),
      start: (owner) => this.#succeed(owner),
      onOwner: (link) => this.#claim(link),
    });
  }

  /** A brief owner may have been faster when the last owner ended. */
  #claim(link: OwnerLink): void {
    if (readOwnerRecord(this.#folder)?.isBrief === true) link.requestHandover();
  }

  async #succeed(owner: ZonesOwner): Promise<{ stop(): Promise<void> }> {
    await this.#enqueue(async () => {
      this.#lines = [];
      await this.#serve(owner);
      this.#owner = owner;
      this.#log(
        ["The process that had the zones has ended. DNS runs here now.", ...this.#lines].join("\n"),
      );
    });
    return {
      stop: () =>
        this.#enqueue(async () => {
          this.#owner = null;
          await this.#server?.stop();
        }),
    };
  }

  #enqueue(act: () => Promise<void>): Promise<void> {
    const change = this.#changes.then(act);
    this.#changes = change.catch(() => {});
    return change;
  }

  #log(text: string): void {
    (this.#options.log ?? console.log)(text);
  }
}
