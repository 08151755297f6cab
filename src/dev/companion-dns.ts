/**
 * DNS beside a script: the companion worker in a runtime of its own, and the name server. DNS
 * restarts when its part of the configuration changes, at the same ports.
 *
 * A project without `[dns]` and without zones rarely needs DNS, which takes a runtime and a thread. So
 * there DNS starts on demand: with the first connection to the port of the record API, or when a
 * command or a tool asks for the zones.
 *
 * If another process owns the zones of the folder, this process waits for the end of that process,
 * and then serves DNS itself. The script does not notice: its binding leads to the folder's socket
 * (`worker/api-proxy.ts`).
 */
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findFreePort } from "../base/ports.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { readDnsConfig } from "../dns/config/dns-config.ts";
import {
  apiHost,
  describeCredentials,
  describeHttps,
  describeListeners,
  startServer,
  type RunningServer,
} from "../dns/server/start-dns.ts";
import {
  claimZones,
  describeOtherTable,
  findZonesOwner,
  takeZones,
  type TakeOptions,
  type Zones,
  type ZonesOwner,
} from "../dns/server/zones-owner.ts";
import type { DnsAccess } from "../explorer/server/call.ts";
import { explorerHeaders } from "../explorer/server/start-explorer.ts";
import { pluginFolder, stateFolder } from "../state/folder.ts";
import { readOwnerRecord, type OwnerLink } from "../state/owner.ts";
import { Succession } from "../state/succession.ts";
import { hasQueryFaults, type StartDevOptions } from "./dev-options.ts";
import type { DnsLocation, DnsSummary } from "./summary.ts";

interface Ports {
  readonly port: number;
  readonly httpsPort: number | undefined;
  readonly tlsPort: number | undefined;
  readonly dnsPort: number;
}

export class CompanionDns {
  readonly #options: StartDevOptions;
  readonly #folder: string;
  #config: ProjectConfig;
  /** `null` while another process owns the zones. */
  #owner: ZonesOwner | null = null;
  #server: RunningServer | null = null;
  /** The port of the record API, where DNS starts on demand. */
  #demandPort: DemandPort | null = null;
  #succession: Succession<ZonesOwner> | null = null;
  /** A restart keeps the ports in use, also those that are not the wanted ports. */
  #lastPorts: { readonly wanted: Ports; readonly used: Ports } | null = null;
  /** Warnings of the last start. */
  #notes: string[] = [];
  #changes: Promise<void> = Promise.resolve();
  readonly #onChange: (news: string) => void;
  readonly #launch = Promise.withResolvers<void>();
  /** Resolves when the process of the runtime exists: then DNS starts beside other work. */
  readonly launched = this.#launch.promise;

  /** @param onChange called when DNS starts or moves while the dev server runs */
  constructor(config: ProjectConfig, options: StartDevOptions, onChange: (news: string) => void) {
    this.#config = config;
    this.#options = options;
    this.#onChange = onChange;
    this.#folder = pluginFolder(stateFolder(config.folder, options.persistTo), "dns");
  }

  start(): Promise<void> {
    return this.#enqueue(async () => {
      const owner = await claimZones(this.#zones, this.#takeOptions);
      if (owner === null) return this.#share();
      this.#owner = owner;
      try {
        await this.#begin(owner);
      } catch (error) {
        this.#owner = null;
        owner.release();
        throw error;
      }
    });
  }

  /** Restarts DNS if the new configuration differs in `[dns]`. */
  update(config: ProjectConfig): Promise<void> {
    return this.#enqueue(async () => {
      const previous = this.#config;
      this.#config = config;
      const isSame = isDnsDeclared(config) === isDnsDeclared(previous);
      if (isSame && isDeepStrictEqual(config.dns, previous.dns)) return;
      const owner = this.#owner;
      if (owner === null) return this.#share();
      try {
        await this.#end();
        await this.#begin(owner);
      } catch (error) {
        this.#config = previous;
        await this.#end();
        await this.#begin(owner);
        throw error;
      }
    });
  }

  /** Whether this process serves the zones of the folder. */
  get isOwner(): boolean {
    return this.#owner !== null;
  }

  /** Acts while the zones are not in use, and then serves DNS again at the same ports. Only as the owner. */
  whileEnded(act: () => Promise<void>): Promise<void> {
    return this.#enqueue(async () => {
      const owner = this.#owner;
      if (owner === null) throw new Error("another process has the zones");
      await this.#end();
      try {
        await act();
      } finally {
        await this.#begin(owner);
      }
    });
  }

  async stop(): Promise<void> {
    if (this.#succession !== null) return this.#succession.stop();
    await this.#enqueue(async () => {
      await this.#end();
      this.#owner?.release();
    });
  }

  /** What the summary of the dev server says of DNS now. */
  async describe(): Promise<DnsSummary> {
    const { dns } = this.#config;
    const server = this.#server;
    const location = { ...(await this.locate()), notes: this.#notes };
    if (server === null) return { ...location, details: [], zones: [], listeners: [] };
    const credentials = isDnsDeclared(this.#config) ? describeCredentials(dns.variables) : [];
    const details = [...describeHttps(server.httpsUrl), ...credentials];
    const listeners = describeListeners(server);
    return { ...location, details, zones: await server.listZones(), listeners };
  }

  /** Where DNS is now, without a call of the record API: what asks often must not fill its log. */
  async locate(): Promise<DnsLocation> {
    const port = this.#demandPort?.port;
    const demandUrl = port === undefined ? null : apiUrl(port);
    if (this.#server !== null) {
      const { url, addresses } = this.#server;
      return { state: "running", url: demandUrl ?? url, addresses };
    }
    if (demandUrl !== null) return { state: "on demand", url: demandUrl };
    const { addresses, processId } = (await findZonesOwner(this.#folder)) ?? {};
    return { state: "shared", url: addresses?.url ?? null, processId: processId ?? null };
  }

  get #zones(): Zones {
    return { folder: this.#folder, variables: this.#config.dns.variables };
  }

  get #takeOptions(): TakeOptions {
    return {
      isBrief: false,
      onServiceRequest: () => void this.#demand().catch(() => {}),
      log: (text) => this.#log(text),
    };
  }

  get #isNeeded(): boolean {
    const { faults } = this.#options;
    return isDnsDeclared(this.#config) || hasZones(this.#folder) || hasQueryFaults(faults);
  }

  async #begin(owner: ZonesOwner): Promise<void> {
    this.#notes = [];
    if (this.#isNeeded) return this.#serve(owner);
    const wanted = this.#options.dnsApiPort ?? this.#config.dns.apiPort;
    const port = await findFreePort(wanted, apiHost);
    this.#demandPort = await openDemandPort(apiHost, port, async () =>
      portOf((await this.#demand()).url),
    );
  }

  /** Serves DNS now, if it does not run. */
  async #demand(): Promise<RunningServer> {
    await this.#enqueue(async () => {
      if (this.#server !== null || this.#owner === null) return;
      try {
        await this.#serve(this.#owner);
        this.#onChange("DNS has started.");
      } catch (error) {
        this.#log(`DNS does not start: ${(error as Error).message}`);
        throw error;
      }
    });
    if (this.#server === null) throw new Error("another process has the zones");
    return this.#server;
  }

  async #end(): Promise<void> {
    await this.#demandPort?.close();
    this.#demandPort = null;
    await this.#server?.stop();
    this.#server = null;
  }

  async #serve(owner: ZonesOwner): Promise<void> {
    const { dnsApiPort, dnsPort } = this.#options;
    const { dns } = this.#config;
    const wanted: Ports = {
      // The port on demand is the port for clients, and passes connections on.
      port: this.#demandPort === null ? (dnsApiPort ?? dns.apiPort) : 0,
      httpsPort: dns.httpsPort ?? undefined,
      tlsPort: dns.tlsPort ?? undefined,
      dnsPort: dnsPort ?? dns.port,
    };
    const last = isDeepStrictEqual(wanted, this.#lastPorts?.wanted) ? this.#lastPorts : null;
    const server = await startServer(owner, dns, {
      ...(last?.used ?? wanted),
      onLaunch: this.#launch.resolve,
      log: (line) => void this.#notes.push(line),
    });
    this.#server = server;
    const used = {
      port: portOf(server.url),
      httpsPort: server.httpsUrl === null ? undefined : portOf(server.httpsUrl),
      tlsPort: server.tlsPort ?? undefined,
      dnsPort: server.dnsPort ?? 0,
    };
    this.#lastPorts = { wanted, used };
  }

  /** Uses the DNS of another process, until that process ends. */
  #share(): void {
    const warning = describeOtherTable(this.#zones);
    this.#notes = warning === null ? [] : [warning];
    this.#succession ??= new Succession<ZonesOwner>({
      folder: this.#folder,
      take: () => takeZones(this.#zones, this.#takeOptions),
      start: (owner) => this.#succeed(owner),
      onOwner: (link) => this.#onOwner(link),
    });
  }

  #onOwner(link: OwnerLink): void {
    // A brief owner may have been faster when the last owner ended.
    if (readOwnerRecord(this.#folder)?.isBrief === true) link.requestHandover();
    else if (this.#isNeeded) link.requestService();
  }

  async #succeed(owner: ZonesOwner): Promise<{ stop(): Promise<void> }> {
    await this.#enqueue(async () => {
      await this.#begin(owner);
      this.#owner = owner;
    });
    this.#onChange("The process that had the zones has ended. DNS runs here now.");
    return {
      stop: () =>
        this.#enqueue(async () => {
          this.#owner = null;
          await this.#end();
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

/** Of a URL that names its port. */
const portOf = (url: string): number => Number(new URL(url).port);
const apiUrl = (port: number): string => `http://${apiHost}:${port}/client/v4`;

function isDnsDeclared({ table, dns }: ProjectConfig): boolean {
  return table["dns"] !== undefined || Object.keys(dns.table).length > 0;
}

/** The database of a Durable Object. */
const objectDatabase = /^[0-9a-f]{64}\.sqlite$/;

/** Whether the companion worker has ever had a zone in this folder. */
function hasZones(folder: string): boolean {
  try {
    const files = readdirSync(join(folder, "do", "dns-ZoneObject"));
    return files.some((name) => objectDatabase.test(name));
  } catch {
    return false;
  }
}

export interface DemandPort {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * A port that is open before its server runs: the first connection starts the server. A connection
 * waits until the server runs and is then passed on to the port of the server.
 *
 * @param port 0 for any
 * @param start starts the server, or waits for its start; returns its port on the same host
 */
export async function openDemandPort(
  host: string,
  port: number,
  start: () => Promise<number>,
): Promise<DemandPort> {
  const connections = new Set<Socket>();
  const follow = (connection: Socket): void => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    // The end of the other side follows from the event "close".
    connection.on("error", () => {});
  };
  const pass = (client: Socket, serverPort: number): void => {
    if (client.destroyed) return;
    const server = connect(serverPort, host);
    follow(server);
    client.once("close", () => server.destroy());
    server.once("close", () => client.destroy());
    client.pipe(server).pipe(client);
  };
  const listener = createServer({ pauseOnConnect: true }, (client) => {
    follow(client);
    start().then(
      (serverPort) => pass(client, serverPort),
      // The starter reports the reason.
      () => client.destroy(),
    );
  });
  await once(listener.listen(port, host), "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    async close() {
      const closed = once(listener, "close");
      listener.close();
      for (const connection of connections) connection.destroy();
      await closed;
    },
  };
}

/** @returns `null` without DNS, and while another process starts DNS */
export function accessOf(
  location: DnsLocation | undefined,
  { dns }: Pick<ProjectConfig, "dns">,
): DnsAccess | null {
  if (location === undefined || location.url === null) return null;
  const { email, key } = readDnsConfig(dns.variables);
  return {
    apiUrl: new URL(location.url).origin,
    addresses: location.state === "running" ? location.addresses : [],
    headers: explorerHeaders({ email, key }),
  };
}
