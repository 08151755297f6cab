/** The options of a dev server. */
import { isPort } from "../base/ports.ts";
import { isIntegerBetween } from "../base/schema.ts";
import { UserError } from "../base/user-error.ts";
import { parseFaultSpec } from "../config/fault-spec.ts";
import type { ReadConfigOptions } from "../config/read-config.ts";
import { latencyMillisecondsMax } from "../store/config/store-buckets.ts";

/** wrangler's levels, from nothing to everything. */
export const logLevels = ["none", "error", "warn", "info", "log", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];
export const logLevelDefault: LogLevel = "info";

export interface StartDevOptions extends ReadConfigOptions {
  /**
   * The configuration files of scripts that run beside the script, in the same runtime and with the same
   * state. Bindings reach them: services, queues, Durable Objects.
   */
  auxiliaryConfigPaths?: readonly string[];
  /** The path of the script. Default: `main` of the configuration. */
  script?: string;
  /** The name of the script. Default: `name` of the configuration. */
  name?: string;
  /** The port of the script, or the next free port. Default: `dev.port` of the configuration, or 8787. */
  port?: number;
  /**
   * The address of the script. Default: `dev.ip` of the configuration, or localhost. Names of zones, routes and buckets
   * lead somewhere on loopback only.
   */
  ip?: string;
  localProtocol?: "http" | "https";
  /** The private key and the certificate for https. Default: a certificate of wrangler's. */
  httpsKeyPath?: string;
  httpsCertPath?: string;
  /**
   * The port of the inspector, or the next free port. Default: `dev.inspector_port` of the
   * configuration. Without either there is no inspector.
   */
  inspectorPort?: number;
  /** The address of the inspector. Default: 127.0.0.1. */
  inspectorIp?: string;
  /** The state folder. Default: `.wrangler/state` beside the configuration file. */
  persistTo?: string;
  /** The name of the saved state that the server starts from. What is there is saved first. */
  from?: string;
  /**
   * The folder of the seed that the server starts from, in place of `state.seed` of the configuration. What is there
   * is saved first. The seed of the configuration fills only an empty state.
   */
  seed?: string;
  /** Whether the state is in a temporary folder, and ends with the server. `from` is a saved state of the project. */
  ephemeral?: boolean;
  /** `false` simulates bindings with `remote = true` on this machine. */
  remoteBindings?: boolean;
  /** Whether to build containers. Default: `dev.enable_containers` of the configuration. */
  enableContainers?: boolean;
  /** Variables of the script. They replace variables of the configuration. */
  variables?: Readonly<Record<string, string>>;
  /** The host in the URLs of requests, as the script sees them. Default: the host of the first route, or the address. */
  host?: string;
  /** The protocol in the URLs of requests. Default: `dev.upstream_protocol` of the configuration. */
  upstreamProtocol?: "http" | "https";
  /** Whether the first route gives the host in the URLs of requests. Default: `true`. */
  inferOriginFromRoutes?: boolean;
  /** The patterns of routes. Default: `routes` of the configuration. */
  routes?: readonly string[];
  /** Whether HTML pages reload in the browser when the script changes. */
  liveReload?: boolean;
  /** Whether requests for `/__scheduled` call the script's `scheduled()`. */
  testScheduled?: boolean;
  /** The compatibility date of the script. Default: `compatibility_date` of the configuration. */
  compatibilityDate?: string;
  /** The compatibility flags of the script. Default: `compatibility_flags` of the configuration. */
  compatibilityFlags?: readonly string[];
  /** The folder of static files. Default: `assets.directory` of the configuration. */
  assets?: string;
  /** Text that replaces names in the script, by the name. Default: `define` of the configuration. */
  define?: Readonly<Record<string, string>>;
  /** Modules that replace others, by the name in an import. Default: `alias` of the configuration. */
  alias?: Readonly<Record<string, string>>;
  /** Whether to minify the script. Default: `minify` of the configuration. */
  minify?: boolean;
  /** `false` runs the files of the script as they are. Default: not `no_bundle` of the configuration. */
  bundle?: boolean;
  /** The path of the `tsconfig.json` of the script. Default: `tsconfig` of the configuration. */
  tsconfig?: string;
  jsxFactory?: string;
  jsxFragment?: string;
  /** Default: "info", which shows requests, the console of the script, warnings and errors. */
  logLevel?: LogLevel;
  /** The delay of each operation of the store, to simulate a remote store. */
  storeLatencyMilliseconds?: number;
  /** `false` serves no S3-compatible API. */
  s3?: boolean;
  /** The port of the S3-compatible API. Default: `s3.port` of the configuration, or 8789. */
  s3Port?: number;
  /** `false` serves no explorer. */
  explorer?: boolean;
  /** The port of the explorer, or the next free port. Default: 8790. */
  explorerPort?: number;
  /** `false` starts no DNS. */
  dns?: boolean;
  /** The port of DNS. Default: `dns.port` of the configuration, or 8053. */
  dnsPort?: number;
  /** The port of the record API. Default: `dns.api_port` of the configuration, or 8788. */
  dnsApiPort?: number;
  /**
   * Faults of calls of buckets, such as `put:photos/*:10001` (docs/testing.md), and of DNS queries, such
   * as `dns:servfail:www.example.com/A:times=2` (docs/testing-dns.md).
   */
  faults?: readonly string[];
  /** Whether the dev server says where each request for a name leads. */
  logRequests?: boolean;
  /** Receives the messages of the dev server. Default: the console. */
  log?: (text: string) => void;
}

/**
 * The options for each script: the script that has the address, then the scripts beside it. As in wrangler, options of
 * an address or of a build concern the first.
 */
export function scriptOptions(options: StartDevOptions): StartDevOptions[] {
  const { auxiliaryConfigPaths = [], environment, adopt, folder, logLevel } = options;
  const { storeLatencyMilliseconds, remoteBindings } = options;
  const common = { environment, adopt, folder, logLevel, storeLatencyMilliseconds, remoteBindings };
  return [options, ...auxiliaryConfigPaths.map((configPath) => ({ ...common, configPath }))];
}

/** @throws UserError for an invalid value */
export function checkOptions(options: StartDevOptions): void {
  for (const name of [
    "port",
    "inspectorPort",
    "dnsPort",
    "dnsApiPort",
    "s3Port",
    "explorerPort",
  ] as const) {
    const port = options[name];
    if (port === undefined || isPort(port)) continue;
    throw new UserError(`${name} ${String(port)} is not a port: use 0 to 65535, where 0 is any.`);
  }
  if (hasQueryFaults(options.faults) && options.dns === false) {
    throw new UserError("A fault of DNS queries needs DNS: leave out --no-dns (dns: false).");
  }
  const { from, seed, ephemeral, persistTo } = options;
  if (from !== undefined && seed !== undefined) {
    throw new UserError("--from and --seed (from, seed) exclude each other: name one of them.");
  }
  if (ephemeral === true && persistTo !== undefined) {
    throw new UserError(
      "--ephemeral and --persist-to (ephemeral, persistTo) exclude each other: the state is in a temporary folder.",
    );
  }
  const { logLevel, storeLatencyMilliseconds: latency, compatibilityDate } = options;
  if (logLevel !== undefined && !logLevels.includes(logLevel)) {
    throw new UserError(`logLevel "${logLevel as string}" is none of ${logLevels.join(", ")}.`);
  }
  for (const name of ["localProtocol", "upstreamProtocol"] as const) {
    const protocol = options[name];
    if (protocol === undefined || protocol === "http" || protocol === "https") continue;
    throw new UserError(`${name} "${String(protocol)}" is neither http nor https.`);
  }
  if (compatibilityDate !== undefined && !isDate(compatibilityDate)) {
    throw new UserError(
      `The compatibility date "${compatibilityDate}" is not a date: write it as 2026-08-01.`,
    );
  }
  if (latency !== undefined && !isIntegerBetween(latency, 0, latencyMillisecondsMax)) {
    throw new UserError(
      `storeLatencyMilliseconds ${String(latency)} is not a whole number from 0 to ${latencyMillisecondsMax}.`,
    );
  }
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

/**
 * Whether `--fault` gives faults of DNS queries.
 *
 * @throws UserError that quotes the text of a fault that is none
 */
export function hasQueryFaults(specs: readonly string[] = []): boolean {
  const parsed = specs.map((spec) => parseFaultSpec(spec));
  return parsed.some(({ subject }) => subject === "dns");
}
