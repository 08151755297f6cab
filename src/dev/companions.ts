/**
 * What a dev server runs beside a script, other than DNS (`companion-dns.ts`): the S3-compatible API, the
 * explorer, and the faults of `--fault`. The servers read the configuration at each request, so `config` is
 * a function.
 */
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { packageVersion } from "../base/package-version.ts";
import { UserError } from "../base/user-error.ts";
import { shownPath } from "../config/config-file.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { CallError } from "../explorer/server/call.ts";
import type { ExplorerContext } from "../explorer/server/context.ts";
import { explorerBuckets, usedBuckets } from "../explorer/server/project-buckets.ts";
import { serveExplorer, type RunningExplorer } from "../explorer/server/start-explorer.ts";
import type { StoreConditions } from "../explorer/server/store-conditions.ts";
import { conditionsOfFaults } from "../explorer/server/wanted-conditions.ts";
import { projectS3Options, startS3, type RunningS3, type StartS3Options } from "../s3/server.ts";
import { stateFolder } from "../state/folder.ts";
import type { StartDevOptions } from "./dev-options.ts";
import type { S3Summary } from "./summary.ts";

/** The options that a server has from its start to its end. */
type ListenOptions = Pick<StartS3Options, "port" | "credentials" | "hosts">;

/**
 * The S3-compatible API. The server restarts when its port, its credentials or its hosts change, and keeps its
 * port unless the configuration names another.
 */
export class CompanionS3 {
  readonly #config: () => ProjectConfig;
  readonly #options: StartDevOptions;
  #served: { readonly server: RunningS3; readonly options: ListenOptions } | null = null;

  constructor(config: () => ProjectConfig, options: StartDevOptions) {
    this.#config = config;
    this.#options = options;
  }

  /** Starts the server, or follows a change of the configuration. */
  async update(): Promise<void> {
    const { s3Port, persistTo } = this.#options;
    const start = projectS3Options(this.#config, { port: s3Port, persistTo });
    const options = { port: start.port, credentials: start.credentials, hosts: start.hosts };
    const served = this.#served;
    if (served !== null && isDeepStrictEqual(served.options, options)) return;
    await this.stop();
    const { buckets, table } = this.#config();
    // A project without buckets and without `[s3]` has nothing to serve.
    if (buckets.length === 0 && table["s3"] === undefined) return;
    const keepsPort = served !== null && served.options.port === options.port;
    const port = keepsPort ? served.server.port : options.port;
    this.#served = { server: await startS3({ ...start, port }), options };
  }

  async stop(): Promise<void> {
    const served = this.#served;
    this.#served = null;
    await served?.server.close();
  }

  /** What the summary of the dev server says; `null` without a server. */
  describe(): S3Summary | null {
    if (this.#served === null) return null;
    const { url, credentials } = this.#served.server;
    return { url, ...credentials };
  }
}

/** What the explorer shows of the dev server around it. */
interface ExplorerSurroundings extends Pick<
  ExplorerContext,
  "dns" | "runningDns" | "conditions" | "activity"
> {
  readonly config: () => ProjectConfig;
  readonly scriptName: () => string | undefined;
  readonly scriptUrl: () => string;
  readonly s3: () => S3Summary | null;
}

/** Starts the explorer: a page for the buckets, the zones and what happens. */
export function startCompanionExplorer(
  { explorerPort: port, persistTo }: StartDevOptions,
  { config, scriptName, scriptUrl, s3, ...around }: ExplorerSurroundings,
): Promise<RunningExplorer> {
  const { folder, path } = config();
  const state = stateFolder(folder, persistTo);
  const buckets = () => explorerBuckets(config());
  return serveExplorer(
    { stateFolder: state, buckets, configFile: path ?? undefined, port },
    {
      ...around,
      bindings: () => usedBuckets(config()),
      project: async () => {
        const dns = await around.dns();
        return {
          name: scriptName() ?? basename(folder),
          version: packageVersion(),
          stateFolder: shownPath(state, process.cwd()),
          scriptUrl: scriptUrl(),
          s3Url: s3()?.url ?? null,
          dns: dns && { apiUrl: dns.apiUrl, addresses: dns.addresses },
          hasRequests: true,
        };
      },
      s3: () => {
        const served = s3();
        return served && { url: served.url, credentials: served };
      },
    },
  );
}

/**
 * Puts the faults of `--fault` in force, until the explorer changes them.
 *
 * @throws UserError for a fault that could hit no call
 */
export async function holdFaults(
  conditions: StoreConditions,
  faults: readonly string[] = [],
): Promise<void> {
  if (faults.length === 0) return;
  try {
    await conditions.change(conditionsOfFaults(faults));
  } catch (error) {
    throw error instanceof CallError ? new UserError(error.message) : error;
  }
}

/** The faults in force, in the words of `--fault`, and why some are not. */
export async function describeFaultsInForce(conditions: StoreConditions): Promise<string[]> {
  const { bucketFaults, dnsFaults, problem } = await conditions.read();
  const faults = [...bucketFaults, ...dnsFaults].map(({ text }) => text);
  return [...faults, ...(problem === null ? [] : [problem])];
}
