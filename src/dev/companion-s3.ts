/** The S3-compatible API beside a script. */
import { isDeepStrictEqual } from "node:util";
import type { ProjectConfig } from "../config/read-config.ts";
import { projectS3Options, startS3, type RunningS3, type StartS3Options } from "../s3/server.ts";
import type { S3Access } from "../s3/s3-table.ts";
import type { StartDevOptions } from "./dev-options.ts";

/** The options that a server has from its start to its end. */
type ListenOptions = Pick<StartS3Options, "port" | "credentials" | "hosts">;

/**
 * The server reads the configuration at each request. The server restarts when its port, its credentials or
 * its hosts change, and keeps its port unless the configuration names another.
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
  describe(): S3Access | null {
    if (this.#served === null) return null;
    const { url, credentials } = this.#served.server;
    return { url, credentials, secretPlace: this.#config().s3.secretPlace };
  }
}
