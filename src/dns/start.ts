/**
 * DNS on its own: the record API on a port, with what the configuration file says of DNS, and the
 * listeners that answer for its zones.
 */
import { createServer, isIPv6 } from "node:net";
import { dirname, join, resolve } from "node:path";
import { configTable, readConfigFile } from "../config/config-file.ts";
import { readDevVariables } from "../config/dev-variables.ts";
import { UserError } from "../plugin/user-error.ts";
import { startCompanion } from "./companion.ts";
import { readListenConfig, readPort, type ListenConfig } from "./listen-config.ts";
import { Listeners, type OpenPorts } from "./listener/listeners.ts";
import { readTransferConfig } from "./transfer/transfer-config.ts";
import { readConfig, type ConfigVariables } from "../../worker/config.ts";

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
const apiPortDefault = 8788;

export async function startDns(options: StartDnsOptions = {}): Promise<RunningDns> {
  const log = options.log ?? console.log;
  const file = readConfigFile(options.configPath);
  const folder = file === null ? process.cwd() : dirname(file.path);
  const table = (file && configTable(file, "dns", options.environment)) ?? {};
  const { DNS_EMAIL, DNS_KEY, DNS_TOKENS } = readDevVariables(folder, options.environment);
  const variables: ConfigVariables = {
    DNS_CONFIG: JSON.stringify(table),
    ...(DNS_EMAIL !== undefined && { DNS_EMAIL }),
    ...(DNS_KEY !== undefined && { DNS_KEY }),
    ...(DNS_TOKENS !== undefined && { DNS_TOKENS }),
  };
  const config = checked(variables, file?.path);
  const listen = readListenConfig(table, file?.path);
  const transfers = readTransferConfig(table, file?.path);
  const wanted = options.port ?? readPort(table, "api_port", apiPortDefault, file?.path);

  const port = (await isFree(wanted)) ? wanted : 0;
  const listeners =
    options.listen === false ? null : await Listeners.start({ ...config, ...listen, transfers });
  const miniflare = startCompanion(variables, {
    host,
    port,
    folder: resolve(folder, options.persistTo ?? join(".wrangler", "state"), "v3", "dns"),
    listeners,
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= stopAll(miniflare, listeners));
  try {
    const { origin } = await miniflare.unsafeGetDirectURL("dns");
    const url = `${origin}/client/v4`;
    if (port !== wanted) log(`Port ${wanted} is taken: the DNS API is on another.`);
    log(describeApi(url, config));
    if (listeners === null) return { url, dnsPort: null, stop };
    const dnsPort = options.dnsPort ?? listen.port;
    const ports = await openPorts(listeners, origin, { ...listen, port: dnsPort });
    if (dnsPort !== 0 && ports.port !== dnsPort) {
      log(`Port ${dnsPort} is taken: DNS is on another.`);
    }
    log(`DNS        ${describePorts(ports)} (UDP and TCP)`);
    return { url, dnsPort: ports.port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openPorts(
  listeners: Listeners,
  origin: string,
  listen: ListenConfig,
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

async function stopAll(miniflare: { dispose(): Promise<void> }, listeners: Listeners | null) {
  // The worker first: what it still commits finds listeners.
  await miniflare.dispose();
  await listeners?.stop();
}

function describeApi(url: string, config: ReturnType<typeof readConfig>): string {
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

/** A mistake in the configuration, said before anything starts. */
function checked(
  variables: ConfigVariables,
  path = "The configuration",
): ReturnType<typeof readConfig> {
  try {
    return readConfig(variables);
  } catch (error) {
    throw new UserError(`${path}: ${(error as Error).message}.`);
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolveFree) => {
    const server = createServer();
    server.once("error", () => resolveFree(false));
    server.listen(port, host, () => server.close(() => resolveFree(true)));
  });
}
