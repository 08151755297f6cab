/**
 * The companion worker on its own: the record API on a port, with what the configuration file
 * says of DNS.
 */
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { Miniflare } from "miniflare";
import { readConfig } from "../config/read-config.ts";
import { workerdModule } from "../plugin/workerd-module.ts";
import { readConfig as readDnsConfig, type ConfigVariables } from "../../worker/config.ts";

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

export async function startDns(options: StartDnsOptions = {}): Promise<RunningDns> {
  const log = options.log ?? console.log;
  const { folder, dns } = readConfig(options);
  const { email, key, tokens, zones } = readDnsConfig(dns.variables);

  const wanted = options.port ?? dns.apiPort;
  const port = (await isFree(wanted)) ? wanted : 0;
  const miniflare = startCompanion(dns.variables, {
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

function isFree(port: number): Promise<boolean> {
  return new Promise((resolveFree) => {
    const server = createServer();
    server.once("error", () => resolveFree(false));
    server.listen(port, host, () => server.close(() => resolveFree(true)));
  });
}
