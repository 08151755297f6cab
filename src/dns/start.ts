/**
 * The companion worker on its own: the record API on a port, with what the configuration file
 * says of DNS.
 */
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { Miniflare } from "miniflare";
import { configTable, readConfigFile } from "../config/config-file.ts";
import { readDevVariables } from "../config/dev-variables.ts";
import { UserError } from "../plugin/user-error.ts";
import { workerdModule } from "../plugin/workerd-module.ts";
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
  /** Takes what there is to say; the console without it. */
  log?: (text: string) => void;
}

export interface RunningDns {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
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
  const { email, key, tokens, zones } = checked(variables, file?.path);

  const wanted = options.port ?? apiPort(table, file?.path);
  const port = (await isFree(wanted)) ? wanted : 0;
  const miniflare = startCompanion(variables, {
    port,
    folder: resolve(folder, options.persistTo ?? join(".wrangler", "state"), "v3", "dns"),
  });
  const origin = (await miniflare.unsafeGetDirectURL("dns")).origin;
  const url = `${origin}/client/v4`;

  if (port !== wanted) log(`Port ${wanted} is taken: the DNS API is on another.`);
  log(
    [
      `DNS API    ${url}`,
      `  e-mail   ${email}`,
      `  key      ${key}`,
      ...(tokens.length === 0 ? [] : [`  tokens   ${tokens.length}`]),
      `  zones    ${zones.map(({ name }) => name).join(", ") || "none declared"}`,
    ].join("\n"),
  );
  let stopped: Promise<void> | undefined;
  return { url, stop: () => (stopped ??= miniflare.dispose()) };
}

function startCompanion(
  variables: ConfigVariables,
  { port, folder }: { port: number; folder: string },
): Miniflare {
  return new Miniflare({
    host,
    port: 0,
    resourcePersistencePath: folder,
    workers: [
      {
        config: {
          type: "worker",
          name: "dns",
          compatibilityDate: "2026-08-01",
          manifest: {
            mainModule: "dns-worker.js",
            modules: { "dns-worker.js": { type: "esm", contents: workerdModule("dns-worker") } },
          },
          exports: {
            ZoneObject: { type: "durable-object", storage: "sqlite" },
            IndexObject: { type: "durable-object", storage: "sqlite" },
          },
          env: {
            ZONES: { type: "durable-object", workerName: "dns", exportName: "ZoneObject" },
            ZONE_INDEX: { type: "durable-object", workerName: "dns", exportName: "IndexObject" },
            ...Object.fromEntries(
              Object.entries(variables).map(([name, value]) => [
                name,
                { type: "text" as const, value: value as string },
              ]),
            ),
          },
        },
        // Straight into the worker: Miniflare's own entry in front of it costs more than the API.
        dev: { unsafeDirectSockets: [{ host, port }] },
      },
    ],
  });
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

function apiPort(table: Readonly<Record<string, unknown>>, path = "The configuration"): number {
  const port = table["api_port"] ?? apiPortDefault;
  if (Number.isInteger(port) && (port as number) >= 0 && (port as number) < 65_536) {
    return port as number;
  }
  throw new UserError(`${path}: dns.api_port must be a port, 0 to 65535.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolveFree) => {
    const server = createServer();
    server.once("error", () => resolveFree(false));
    server.listen(port, host, () => server.close(() => resolveFree(true)));
  });
}
