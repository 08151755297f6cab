/**
 * DNS on its own: the record API on a port, with what the configuration file says of DNS, and the
 * listeners that answer for its zones.
 */
import { createServer, isIPv6 } from "node:net";
import { readConfig } from "../../config/read-config.ts";
import { UserError } from "../../base/user-error.ts";
import { readDnsConfig, type DnsConfig } from "../../config/dns-config.ts";
import { startCompanion } from "./companion.ts";
import type { ListenConfig } from "../../config/dns-table.ts";
import { Listeners, type OpenPorts } from "./listeners.ts";
import { onWorkerdStart } from "../../base/processes.ts";
import { ZonesOwner } from "./zones-owner.ts";
import { zonesFolder } from "./zones-folder.ts";

export interface StartDnsOptions {
  /** The configuration file; the nearest one without it, and the defaults without any. */
  configPath?: string;
  /** A table of `[env.NAME]` stands instead of the common one. */
  environment?: string;
  /** Where zones are kept: `.wrangler/state` beside the configuration file without it. */
  persistTo?: string;
  /** Of the API; `api_port` of the configuration without it, and 8788 without both. */
  port?: number;
  /** Of the listeners, for UDP and TCP; `port` of the configuration without it, and 8053 without both. */
  dnsPort?: number;
  /** False: the record API and DNS over HTTPS only. */
  listen?: boolean;
  /** Takes what there is to say; the console without it. */
  log?: (text: string) => void;
}

export interface RunningDns {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
  /** Of UDP and TCP; `null` without listeners. */
  readonly dnsPort: number | null;
  /** Ends it; once more is no error. */
  stop(): Promise<void>;
}

const host = "127.0.0.1";

export function startDns(options: StartDnsOptions = {}): Promise<RunningDns> {
  return start(options, { brief: false });
}

/**
 * For a command that finds nobody running: on free ports, and gone when it is done. Secondaries
 * are told of nothing, for there will be nobody to ask when they come; the next start tells them.
 */
export function startBriefly(options: StartDnsOptions): Promise<RunningDns> {
  return start({ ...options, port: 0, dnsPort: 0, log: () => {} }, { brief: true });
}

async function start(options: StartDnsOptions, { brief }: { brief: boolean }): Promise<RunningDns> {
  const log = options.log ?? console.log;
  const { folder: projectFolder, dns } = readConfig(options);
  const { variables } = dns;
  const listen = brief ? { ...dns.listen, ...briefListen } : dns.listen;
  const transfers = brief ? { ...dns.transfers, secondaries: [] } : dns.transfers;
  const config = readDnsConfig(variables);
  const wanted = options.port ?? dns.apiPort;
  const folder = zonesFolder(projectFolder, options.persistTo);

  const claim = await ZonesOwner.take(folder, { brief });
  const parts: (() => Promise<unknown>)[] = [async () => claim.release()];
  let stopped: Promise<void> | undefined;
  // The worker before the listeners, which what it still commits must find; the folder at the end.
  const stop = (): Promise<void> => (stopped ??= stopAll(parts.toReversed()));
  try {
    const port = (await isFree(wanted)) ? wanted : 0;
    const listeners =
      options.listen === false ? null : await Listeners.start({ ...config, ...listen, transfers });
    if (listeners !== null) parts.push(() => listeners.stop());
    const miniflare = onWorkerdStart(
      (runtimeProcessId) => claim.amend({ runtimeProcessId }),
      () => startCompanion(variables, { host, port, folder, listeners }),
    );
    parts.push(() => miniflare.dispose());
    const { origin } = await miniflare.unsafeGetDirectURL("dns");
    const url = `${origin}/client/v4`;
    const { email, key } = config;
    if (port !== wanted) log(`Port ${wanted} is taken: the DNS API is on another.`);
    log(describeApi(url, config));
    if (listeners === null) {
      claim.amend({ addresses: { url, dns: null, email, key } });
      return { url, dnsPort: null, stop };
    }
    const dnsPort = options.dnsPort ?? dns.port;
    const ports = await openPorts(listeners, origin, { ...listen, port: dnsPort });
    if (dnsPort !== 0 && ports.port !== dnsPort) {
      log(`Port ${dnsPort} is taken: DNS is on another.`);
    }
    log(`DNS        ${describePorts(ports)} (UDP and TCP)`);
    claim.amend({ addresses: { url, dns: reachable(ports), email, key } });
    return { url, dnsPort: ports.port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const briefListen = { hosts: [host], hostsOptional: false, threads: 1 };

/** The rest is stopped even if one of them fails to. */
async function stopAll(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  const [first, ...rest] = parts;
  if (first === undefined) return;
  try {
    await first();
  } finally {
    await stopAll(rest);
  }
}

/** An address that can be asked at, where one is listened at that means all. */
function reachable({ hosts, port }: OpenPorts): { host: string; port: number } {
  const [first = host] = hosts;
  const anywhere: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  return { host: anywhere[first] ?? first, port };
}

async function openPorts(
  listeners: Listeners,
  origin: string,
  listen: ListenConfig & { readonly port: number },
): Promise<OpenPorts> {
  await listeners.load(origin);
  try {
    return await listeners.open(listen);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") return listeners.open({ ...listen, port: 0 });
    if (code !== "EACCES" && code !== "EADDRNOTAVAIL") throw error;
    throw new UserError(
      `Cannot listen at port ${listen.port} of ${listen.hosts.join(", ")}: ${message}. ` +
        "Ports below 1024 need rights; dns.hosts must be addresses of this machine.",
    );
  }
}

function describeApi(url: string, config: DnsConfig): string {
  const { email, key, tokens, zones } = config;
  return [
    `DNS API    ${url}`,
    `  e-mail   ${email}`,
    `  key      ${key}`,
    ...(tokens.length === 0 ? [] : [`  tokens   ${tokens.length}`]),
    `  zones    ${zones.map(({ name }) => name).join(", ") || "none declared"}`,
  ].join("\n");
}

function describePorts({ hosts, port }: OpenPorts): string {
  return hosts.map((address) => `${isIPv6(address) ? `[${address}]` : address}:${port}`).join(", ");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolveFree) => {
    const server = createServer();
    server.once("error", () => resolveFree(false));
    server.listen(port, host, () => server.close(() => resolveFree(true)));
  });
}
