/**
 * The S3-compatible API beside a script. The server reads the buckets of the configuration at each
 * request; it restarts, at the same port, when `[s3]` changes.
 */
import { isDeepStrictEqual } from "node:util";
import type { ProjectConfig } from "../config/read-config.ts";
import { projectS3Options } from "../s3/server/project-options.ts";
import { startS3, type RunningS3 } from "../s3/server/start-s3.ts";
import type { StartDevOptions } from "./dev-options.ts";
import type { S3Summary } from "./summary.ts";

export class CompanionS3 {
  readonly #options: StartDevOptions;
  #config: ProjectConfig;
  #server: RunningS3 | null = null;

  constructor(config: ProjectConfig, options: StartDevOptions) {
    this.#config = config;
    this.#options = options;
  }

  /** A project without buckets and without `[s3]` has nothing to serve. */
  async start(): Promise<void> {
    const { buckets, table } = this.#config;
    if (buckets.length === 0 && table["s3"] === undefined) return;
    const { s3Port, persistTo } = this.#options;
    this.#server = await startS3(
      projectS3Options(() => this.#config, {
        ...(s3Port !== undefined && { port: s3Port }),
        ...(persistTo !== undefined && { persistTo }),
      }),
    );
  }

  async update(config: ProjectConfig): Promise<void> {
    const previous = this.#config;
    this.#config = config;
    const isServed = this.#server !== null;
    if (isServed && isDeepStrictEqual(config.s3, previous.s3)) return;
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    await server?.close();
  }

  /** What the summary of the dev server says; `null` without a server. */
  describe(): S3Summary | null {
    if (this.#server === null) return null;
    const { url, credentials } = this.#server;
    return { url, ...credentials };
  }
}
