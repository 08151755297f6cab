/**
 * The S3-compatible API beside a script. The server reads the buckets and the CORS rules of the
 * configuration at each request. It restarts when its port, its credentials or its hosts change, and
 * keeps its port unless the configuration names another.
 */
import { isDeepStrictEqual } from "node:util";
import type { ProjectConfig } from "../config/read-config.ts";
import { projectS3Options } from "../s3/server.ts";
import { startS3, type RunningS3, type StartS3Options } from "../s3/server.ts";
import type { StartDevOptions } from "./dev-options.ts";
import type { S3Summary } from "./summary.ts";

type ListenOptions = Pick<StartS3Options, "port" | "credentials" | "hosts">;

export class CompanionS3 {
  readonly #options: StartDevOptions;
  #config: ProjectConfig;
  #served: { readonly server: RunningS3; readonly options: ListenOptions } | null = null;

  constructor(config: ProjectConfig, options: StartDevOptions) {
    this.#config = config;
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#hasBuckets()) await this.#start(this.#startOptions());
  }

  async update(config: ProjectConfig): Promise<void> {
    this.#config = config;
    const options = this.#startOptions();
    const served = this.#served;
    if (served !== null && isDeepStrictEqual(served.options, listenOptions(options))) return;
    await this.stop();
    if (!this.#hasBuckets()) return;
    const keepsPort = served !== null && served.options.port === options.port;
    await this.#start(options, keepsPort ? served.server.port : options.port);
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

  async #start(options: StartS3Options, port = options.port): Promise<void> {
    const server = await startS3({ ...options, ...(port !== undefined && { port }) });
    this.#served = { server, options: listenOptions(options) };
  }

  #startOptions(): StartS3Options {
    const { s3Port, persistTo } = this.#options;
    return projectS3Options(() => this.#config, {
      ...(s3Port !== undefined && { port: s3Port }),
      ...(persistTo !== undefined && { persistTo }),
    });
  }

  /** A project without buckets and without `[s3]` has nothing to serve. */
  #hasBuckets(): boolean {
    const { buckets, table } = this.#config;
    return buckets.length > 0 || table["s3"] !== undefined;
  }
}

/** The options that a server has from its start to its end. */
function listenOptions({ port, credentials, hosts }: StartS3Options): ListenOptions {
  return {
    ...(port !== undefined && { port }),
    ...(credentials !== undefined && { credentials }),
    ...(hosts !== undefined && { hosts }),
  };
}
