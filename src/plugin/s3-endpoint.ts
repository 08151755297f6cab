/**
 * The S3-compatible API beside a Miniflare, for tools that start Miniflare themselves. A binding gives
 * scripts, tests and Node the address and the credentials.
 */
import { isDeepStrictEqual } from "node:util";
import type { ProjectS3 } from "../config/s3-table.ts";
import type { BucketOptions } from "../config/store-buckets.ts";
import type { RunningS3 } from "../s3/server.ts";

export interface S3EndpointOptions extends ProjectS3 {
  /** The bindings of scripts to buckets. */
  readonly bindings: readonly Pick<BucketOptions, "bucketName" | "public" | "remote">[];
}

/** The value of the binding: what a client needs. */
export interface S3Access {
  readonly endpoint: string;
  readonly region: "auto";
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export class S3Endpoint {
  readonly #folder: string;
  #served: { readonly options: S3EndpointOptions; readonly server: RunningS3 } | undefined;

  /** @param folder where Miniflare keeps its state */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Starts the server. A server that has the same options goes on. */
  async serve(options: S3EndpointOptions): Promise<S3Access> {
    if (this.#served !== undefined && !isDeepStrictEqual(this.#served.options, options)) {
      await this.close();
    }
    this.#served ??= { options, server: await startServer(this.#folder, options) };
    const { url, credentials } = this.#served.server;
    return { endpoint: url, region: "auto", ...credentials };
  }

  async close(): Promise<void> {
    const served = this.#served;
    this.#served = undefined;
    await served?.server.close();
  }
}

/** Most runs need no server, so its modules are loaded here. */
async function startServer(
  folder: string,
  { bindings, cors, ...options }: S3EndpointOptions,
): Promise<RunningS3> {
  const { servedBuckets, serveFolder } = await import("../s3/server.ts");
  return serveFolder(folder, { ...options, buckets: servedBuckets(bindings, cors) });
}
