/**
 * The explorer beside a script: a page for its buckets, its zones and what happens. The server reads
 * the buckets of the configuration at each request, and keeps its port while the dev server runs.
 */
import { basename } from "node:path";
import { packageVersion } from "../base/package-version.ts";
import { stateFolder } from "../state/folder.ts";
import { shownPath } from "../config/config-file.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { ActivityLog } from "../explorer/server/activity-log.ts";
import type { ExplorerContext } from "../explorer/server/context.ts";
import { explorerBuckets, usedBuckets } from "../explorer/server/project-buckets.ts";
import { serveExplorer, type RunningExplorer } from "../explorer/server/start-explorer.ts";
import type { StartDevOptions } from "./dev-options.ts";
import type { S3Summary } from "./summary.ts";

/** What the explorer shows of the dev server around it. */
export interface ExplorerSurroundings {
  readonly scriptName: () => string | undefined;
  readonly scriptUrl: () => string;
  readonly s3: () => S3Summary | null;
  readonly dns: ExplorerContext["dns"];
  readonly runningDns: ExplorerContext["runningDns"];
  readonly conditions: ExplorerContext["conditions"];
}

export class CompanionExplorer {
  /** What the script does, for the page. */
  readonly activity = new ActivityLog();
  readonly #options: StartDevOptions;
  readonly #around: ExplorerSurroundings;
  #config: ProjectConfig;
  #server: RunningExplorer | null = null;

  constructor(config: ProjectConfig, options: StartDevOptions, around: ExplorerSurroundings) {
    this.#config = config;
    this.#options = options;
    this.#around = around;
  }

  async start(): Promise<void> {
    const { explorerPort: port, persistTo } = this.#options;
    const { folder, path } = this.#config;
    const state = stateFolder(folder, persistTo);
    this.#server = await serveExplorer(
      {
        stateFolder: state,
        buckets: () => explorerBuckets(this.#config),
        ...(path !== null && { configFile: path }),
        ...(port !== undefined && { port }),
      },
      {
        bindings: () => usedBuckets(this.#config),
        project: async () => {
          const dns = await this.#around.dns();
          return {
            name: this.#around.scriptName() ?? basename(folder),
            version: packageVersion(),
            stateFolder: shownPath(state, process.cwd()),
            scriptUrl: this.#around.scriptUrl(),
            s3Url: this.#around.s3()?.url ?? null,
            dns: dns && { apiUrl: dns.apiUrl, addresses: dns.addresses },
            hasRequests: true,
          };
        },
        s3: () => {
          const s3 = this.#around.s3();
          return s3 && { url: s3.url, credentials: s3 };
        },
        dns: this.#around.dns,
        runningDns: this.#around.runningDns,
        conditions: this.#around.conditions,
        activity: this.activity,
      },
    );
  }

  update(config: ProjectConfig): void {
    this.#config = config;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    await server?.close();
  }

  /** The address with its token; `null` before the start. */
  get url(): string | null {
    return this.#server?.url ?? null;
  }
}
