/**
 * DNS without a dev server: the record API on a port, and the listeners that answer queries for
 * its zones, both as the configuration file says.
 */
import { isIPv6 } from "node:net";
import { fetchAlone } from "../../base/node-http.ts";
import { isPortFree } from "../../base/ports.ts";
import type { ServerIdentity } from "../../tls/authority.ts";
import { ApiClient } from "../client/api-client.ts";
import {
  apiKeyDefault,
  readDnsConfig,
  type DnsConfig,
  type DnsVariables,
} from "../config/dns-config.ts";
import type { ProjectDns } from "../config/dns-table.ts";
import { ApiPort, openHttpsPort } from "./api-port.ts";
import { publicSocketPath, startCompanion, type CompanionOptions } from "./companion.ts";
import { startListeners } from "./listeners.ts";
import { ServerCertificate } from "./server-certificate.ts";
import type { OpenPorts } from "./sockets.ts";
import {
  claimZones,
  findZonesOwner,
  tableId,
  zonesFolder,
  ZonesTakenError,
  type Zones,
  type ZonesOwner,
} from "./zones-owner.ts";

export interface StartDnsOptions {
  /** The configuration file. By default the nearest file, or the default settings without a file. */
  configPath?: string;
  /** A table of `[env.NAME]` that replaces the top-level table. */
  environment?: string;
  /** The state folder. By default `.wrangler/state` beside the configuration file. */
  persistTo?: string;
  /** Of the API. By default `api_port` of the configuration, or 8788. */
  port?: number;
  /** Of the listeners, for UDP and TCP. By default `port` of the configuration, or 8053. */
  dnsPort?: number;
  /** Of the API over https; `false` for none. By default `https_port` of the configuration. */
  httpsPort?: number | false;
  /** Of DNS over TLS; `false` for none. By default `tls_port` of the configuration. */
  tlsPort?: number | false;
  /** `false`: only the record API and DNS over HTTPS; no UDP, TCP and TLS. */
  listen?: boolean;
  /** Receives the addresses and the warnings. By default `console.log`. */
  log?: (text: string) => void;
}

type ServerOptions = Omit<StartDnsOptions, "configPath" | "environment" | "persistTo"> &
  Pick<CompanionOptions, "onLaunch">;

export interface RunningDns {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
  /** Of the API over https; `null` without https. */
  readonly httpsUrl: string | null;
  /** Of UDP and TCP; `null` without listeners. */
  readonly dnsPort: number | null;
  /** Of DNS over TLS; `null` without it. */
  readonly tlsPort: number | null;
  /** Stops DNS. A second call does nothing. */
  stop(): Promise<void>;
}

export interface RunningServer extends RunningDns {
  /** Of UDP and TCP, such as `127.0.0.1:8053` and `[::1]:8053`; empty without listeners. */
  readonly addresses: readonly string[];
  /** Of DNS over TLS. */
  readonly tlsAddresses: readonly string[];
  /** The names of all zones, also of those that the configuration does not declare. */
  listZones(): Promise<string[]>;
}

export const apiHost = "127.0.0.1";

/**
 * @param project the project's folder, and `[dns]` of its configuration file
 * @throws ZonesTakenError when another process owns the zones until its end
 */
export async function startProjectDns(
  { folder: projectFolder, dns }: { readonly folder: string; readonly dns: ProjectDns },
  options: StartDnsOptions,
): Promise<RunningDns> {
  const zones = {
    folder: zonesFolder(projectFolder, options.persistTo),
    variables: dns.variables,
  };
  const log = options.log ?? console.log;
  for (;;) {
    const owner = await claimZones(zones, { isBrief: false, log });
    if (owner !== null) return describeStart(await startOwned(owner, dns, options), dns, log);
    const record = await findZonesOwner(zones.folder);
    if (record !== null) throw new ZonesTakenError(zones.folder, record);
  }
}

/**
 * DNS for one command that needs listeners, on free ports. Secondaries are not notified, because no
 * server would answer when they ask for the zone; the next start notifies them. Returns `null` when
 * another process owns the zones until its end.
 */
export async function startBriefly(zones: Zones, dns: ProjectDns): Promise<RunningDns | null> {
  // The command ends soon, so a process that asks for the zones waits for its end.
  const owner = await claimZones(zones, { isBrief: true });
  if (owner === null) return null;
  const brief = {
    ...dns,
    httpsPort: null,
    tlsPort: null,
    listen: { ...dns.listen, ...briefListen },
    transfers: { ...dns.transfers, secondaries: [] },
  };
  const options = { port: 0, dnsPort: 0, log: () => {} };
  return startOwned(owner, brief, options);
}

/** The end of the server is the end of the ownership. */
async function startOwned(
  owner: ZonesOwner,
  dns: ProjectDns,
  options: ServerOptions,
): Promise<RunningServer> {
  try {
    const server = await startServer(owner, dns, options);
    const stop = (): Promise<void> => server.stop().finally(() => owner.release());
    let stopped: Promise<void> | undefined;
    return { ...server, stop: () => (stopped ??= stop()) };
  } catch (error) {
    owner.release();
    throw error;
  }
}

function describeStart(
  server: RunningServer,
  { variables }: ProjectDns,
  log: (text: string) => void,
): RunningDns {
  const { url, httpsUrl, dnsPort, tlsPort } = server;
  const zones = readDnsConfig(variables).zones.map(({ name }) => name);
  log(
    [
      `DNS API    ${url}`,
      ...describeHttps(httpsUrl),
      ...describeCredentials(variables),
      `  zones    ${zones.join(", ") || "none declared"}`,
    ].join("\n"),
  );
  for (const line of describeListeners(server)) log(line);
  return { url, httpsUrl, dnsPort, tlsPort, stop: () => server.stop() };
}

/** The part of DNS that runs while this process owns the zones. `stop()` keeps the zones owned. */
export async function startServer(
  owner: ZonesOwner,
  dns: ProjectDns,
  options: ServerOptions,
): Promise<RunningServer> {
  const { variables, listen, transfers } = dns;
  const log = options.log ?? console.log;
  const config = readDnsConfig(variables);
  const table = tableId(variables);
  const wanted = options.port ?? dns.apiPort;
  const httpsWanted = options.httpsPort ?? dns.httpsPort ?? false;
  const tlsWanted = options.tlsPort ?? dns.tlsPort ?? false;
  const parts: (() => Promise<unknown>)[] = [];
  let stopped: Promise<void> | undefined;
  // The worker stops first: the listeners must receive what it still commits.
  const stop = (): Promise<void> => (stopped ??= stopAll(parts.toReversed()));
  try {
    const port = (await isPortFree(wanted, apiHost).catch(() => false)) ? wanted : 0;
    const listeners =
      options.listen === false ? null : await startListeners({ ...config, ...listen, transfers });
    if (listeners !== null) parts.push(() => listeners.stop());
    const companion = await startCompanion(owner, variables, {
      isPublic: true,
      listeners,
      onLaunch: options.onLaunch,
    });
    parts.push(() => companion.stop());
    const target = publicSocketPath(owner.folder);
    const apiPort = await ApiPort.open({ host: apiHost, port, target });
    parts.push(() => apiPort.close());
    let made: ServerCertificate | undefined;
    const names = config.httpsNames;
    const certificate = (): ServerCertificate =>
      (made ??= new ServerCertificate({ folder: owner.folder, names, log }));
    parts.push(async () => made?.close());
    let httpsUrl: string | null = null;
    if (httpsWanted !== false) {
      const https = await openHttpsPort({
        folder: owner.folder,
        certificate: certificate(),
        host: apiHost,
        port: httpsWanted,
        log,
      });
      parts.push(() => https.close());
      httpsUrl = `https://localhost:${https.port}/client/v4`;
    }
    const origin = `http://${apiHost}:${apiPort.port}`;
    const url = `${origin}/client/v4`;
    if (port !== wanted) log(`Port ${wanted} is taken: the DNS API uses another port.`);
    const listZones = (): Promise<string[]> => zoneNames(url, config);
    let ports: OpenPorts | null = null;
    let tlsPorts: OpenPorts | null = null;
    if (listeners !== null) {
      const open = async (what: string, at: number, identity?: ServerIdentity) => {
        const opened = await listeners.open({ ...listen, port: at, identity });
        if (at !== 0 && opened.port !== at) log(`Port ${at} is taken: ${what} uses another port.`);
        return opened;
      };
      await listeners.load(origin);
      ports = await open("DNS", options.dnsPort ?? dns.port);
      if (tlsWanted !== false) {
        tlsPorts = await open("DNS over TLS", tlsWanted, certificate().identity);
        certificate().onRenewal((identity) => listeners.renew(identity));
      }
    }
    owner.amend({
      table,
      addresses: { url, dns: ports && reachable(ports), tls: tlsPorts && reachable(tlsPorts) },
    });
    return {
      url,
      httpsUrl,
      dnsPort: ports?.port ?? null,
      tlsPort: tlsPorts?.port ?? null,
      addresses: describePorts(ports),
      tlsAddresses: describePorts(tlsPorts),
      listZones,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const briefListen = { hosts: [apiHost], hostsOptional: false };

/** Stops the parts one after the other, the later parts also when an earlier part fails. */
async function stopAll([first, ...rest]: readonly (() => Promise<unknown>)[]): Promise<void> {
  await first?.().finally(() => stopAll(rest));
}

/** An address that clients can connect to: a listener on all addresses has none of its own. */
function reachable({ hosts, port }: OpenPorts): { host: string; port: number } {
  const [first = apiHost] = hosts;
  const anywhere: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  return { host: anywhere[first] ?? first, port };
}

/** Where queries are answered. */
export function describeListeners({ addresses, tlsAddresses }: RunningServer): string[] {
  const lines = [
    [addresses, "UDP and TCP"],
    [tlsAddresses, "TLS"],
  ] as const;
  return lines.flatMap(([at, how]) =>
    at.length === 0 ? [] : `DNS        ${at.join(", ")} (${how})`,
  );
}

export function describeHttps(httpsUrl: string | null): string[] {
  return httpsUrl === null ? [] : [`  https    ${httpsUrl} (ledge dns trust says how to trust it)`];
}

/** Indented lines: how to use the record API. */
export function describeCredentials(variables: DnsVariables): string[] {
  const config = readDnsConfig(variables);
  const { email, tokens } = config;
  return [
    `  e-mail   ${email}`,
    `  key      ${describeKey(config, variables)}`,
    ...(tokens.length === 0 ? [] : [`  tokens   ${tokens.length}`]),
  ];
}

async function zoneNames(url: string, { email, key }: DnsConfig): Promise<string[]> {
  const zones = await new ApiClient(url, { email, key }, fetchAlone).zones();
  return zones.map(({ name }) => name);
}

/** Terminals and logs keep what is printed, so only the key that everyone knows is. */
function describeKey({ key }: DnsConfig, { DNS_KEY: secret = "" }: DnsVariables): string {
  if (key === apiKeyDefault) return key;
  return secret === "" ? "the key of [dns] in the configuration" : "DNS_KEY of your secrets file";
}

function describePorts(ports: OpenPorts | null): string[] {
  const { hosts, port } = ports ?? { hosts: [], port: 0 };
  return hosts.map((address) => `${isIPv6(address) ? `[${address}]` : address}:${port}`);
}
