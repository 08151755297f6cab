/** A script in workerd that serves a public bucket, beside Miniflare's own public path for R2. */
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { build, type Rolldown } from "vite";
import { plugin, worker } from "../../support/worker.ts";
import { S3TestClient } from "../../s3/support/s3-client.ts";

export interface Sent {
  readonly method?: string;
  /** As it is sent: no parser of URLs sees the path before workerd. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface Content {
  readonly bytes: Uint8Array;
  readonly httpMetadata?: object;
}

export interface PublicBuckets {
  /** Puts into our bucket and into R2. */
  put(key: string, content: Content): Promise<void>;
  /** Our bucket, through the socket of the script. */
  ours(sent: Sent): Promise<Received>;
  /** R2 by `/cdn-cgi/local/r2/public`. */
  miniflares(sent: Sent): Promise<Received>;
  readonly s3: S3TestClient;
  close(): Promise<void>;
}

const script = `
  import { servePublicObject } from "./public-object.js";
  const configured = [{ allowedOrigins: ["http://configured"], allowedMethods: ["GET"] }];
  export default {
    fetch(request, { BUCKET }) {
      const bucket = request.headers.has("x-replaced") ? replacing(BUCKET) : BUCKET;
      return servePublicObject(request, new URL(request.url).pathname.slice(1), bucket, configured);
    },
  };
  /** The object is replaced after its metadata have been read for the first time. */
  function replacing(bucket) {
    let wasRead = false;
    return {
      get: (...given) => bucket.get(...given),
      async head(key) {
        const object = await bucket.head(key);
        if (!wasRead) await bucket.put(key, "replaced");
        wasRead = true;
        return object;
      },
    };
  }`;

export async function startPublicBuckets(): Promise<PublicBuckets> {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  const { config } = worker(script);
  const modules = {
    ...config.manifest.modules,
    "public-object.js": { type: "esm" as const, contents: await publicObjectModule() },
  };
  const env = {
    ...config.env,
    R2: { type: "r2" as const, name: "photos" },
    S3: { type: "unsafe:store_s3" as const, dev: { plugin, options: { port: 0 } } },
  };
  const miniflare = new Miniflare({
    resourcePersistencePath: folder,
    workers: [
      {
        config: { ...config, manifest: { ...config.manifest, modules }, env },
        dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] },
      },
    ],
  });
  const entry = await miniflare.ready;
  const direct = await miniflare.unsafeGetDirectURL("script");
  const { BUCKET, R2, S3 } = await miniflare.getBindings<{
    BUCKET: StoreBucketLike;
    R2: StoreBucketLike;
    S3: { endpoint: string; accessKeyId: string; secretAccessKey: string };
  }>();
  return {
    async put(key, { bytes, httpMetadata }) {
      for (const bucket of [BUCKET, R2]) await bucket.put(key, bytes, { httpMetadata });
    },
    ours: (sent) => send(direct, sent),
    miniflares: (sent) =>
      send(entry, { ...sent, path: `/cdn-cgi/local/r2/public/photos${sent.path}` }),
    s3: new S3TestClient({ port: Number(new URL(S3.endpoint).port), credentials: S3 }),
    async close() {
      await miniflare.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface StoreBucketLike {
  put(key: string, value: Uint8Array, options: object): Promise<unknown>;
}

async function publicObjectModule(): Promise<string> {
  const entry = fileURLToPath(
    new URL("../../../src/edge/worker/public-object.ts", import.meta.url),
  );
  const [built] = (await build({
    configFile: false,
    logLevel: "silent",
    build: { write: false, minify: false, target: "es2024", lib: { entry, formats: ["es"] } },
  })) as Rolldown.RolldownOutput[];
  return built?.output[0].code ?? "";
}

async function send(url: URL, { method = "GET", path, headers = {} }: Sent): Promise<Received> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const { hostname, port } = url;
    // A connection of its own: workerd closes one that is idle.
    const options = { host: hostname, port, method, path, headers, agent: false } as const;
    const request = httpRequest(options, resolve);
    request.on("error", reject);
    request.end();
  });
  const { statusCode = 0 } = response;
  return { status: statusCode, headers: response.headers, body: await buffer(response) };
}
