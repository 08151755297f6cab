/** What a dev server can be told. */
import { isLatency, latencyMillisecondsMax } from "../config/bucket-options.ts";
import { isPort } from "../base/ports.ts";
import { UserError } from "../base/user-error.ts";

/** From nothing to everything, as wrangler has them. */
export const logLevels = ["none", "error", "warn", "info", "log", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];
export const logLevelDefault: LogLevel = "info";

export interface StartDevOptions {
  /** The script; `main` of the configuration without it. */
  script?: string;
  /** The configuration file; the nearest one without it. */
  configPath?: string;
  /** A table of `[env.NAME]`. */
  environment?: string;
  /** Where to look for the configuration; the working folder without it. */
  folder?: string;
  /** Of the script: the configuration's `dev.port` without it, or 8787. The next one if taken. */
  port?: number;
  /** The address to listen on; the configuration's `dev.ip` without it, or localhost. */
  ip?: string;
  localProtocol?: "http" | "https";
  /** 9229 without it, or the next one that is free. */
  inspectorPort?: number;
  /** Where state is kept; `.wrangler/state` beside the configuration file without it. */
  persistTo?: string;
  /** Variables of the script, over those of the configuration. */
  variables?: Readonly<Record<string, string>>;
  /** "info" without it: requests, the script's console, warnings and errors. */
  logLevel?: LogLevel;
  /** Holds up each operation of the store, as one far away would. */
  storeLatencyMilliseconds?: number;
  /** `false` leaves the companion worker out. */
  dns?: boolean;
  /** Of DNS; the configuration's `dns.port` without it, or 8053. */
  dnsPort?: number;
  /** Of the record API; the configuration's `dns.api_port` without it, or 8788. */
  dnsApiPort?: number;
  /** Takes what the dev server has to say; the console without it. */
  log?: (text: string) => void;
}

/** @throws UserError for a value that cannot be meant */
export function checkOptions(options: StartDevOptions): void {
  for (const name of ["port", "inspectorPort", "dnsPort", "dnsApiPort"] as const) {
    const port = options[name];
    if (port === undefined || isPort(port)) continue;
    throw new UserError(`${name} ${String(port)} is not a port: use 0 to 65535, where 0 is any.`);
  }
  const { logLevel, storeLatencyMilliseconds: latency, localProtocol } = options;
  if (logLevel !== undefined && !logLevels.includes(logLevel)) {
    throw new UserError(`logLevel "${logLevel as string}" is none of ${logLevels.join(", ")}.`);
  }
  if (localProtocol !== undefined && localProtocol !== "http" && localProtocol !== "https") {
    throw new UserError(`localProtocol "${String(localProtocol)}" is neither http nor https.`);
  }
  if (latency !== undefined && !isLatency(latency)) {
    throw new UserError(
      `storeLatencyMilliseconds ${String(latency)} is not a whole number from 0 to ${latencyMillisecondsMax}.`,
    );
  }
}
