/**
 * Ours and R2 are two bindings of one script, so that one process of workerd serves both.
 *
 * Requests go directly to the script's socket. Miniflare's `dispatchFetch` takes milliseconds,
 * which would be most of the time in the rows with one request for each operation.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { Miniflare, type MiniflareOptions } from "miniflare";
import { processBucket, verifiedBucket } from "./rows.ts";
import type { Message } from "./workload.ts";

export type BindingSide = "ours" | "r2";

const index = `
  import { handleMessage } from "./workload.ts";
  async function put(bucket, key, size, chunks) {
    const { readable, writable } = new FixedLengthStream(size);
    const writer = writable.getWriter();
    async function write() {
      for (const chunk of chunks) await writer.write(chunk);
      await writer.close();
    }
    const [stored] = await Promise.all([bucket.put(key, readable), write()]);
    return stored;
  }
  async function drain({ body }, readBytes) {
    const reader = body.getReader({ mode: "byob" });
    let read = 0;
    for (let buffer = new ArrayBuffer(readBytes); ; ) {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) return read;
      read += value.length;
      buffer = value.buffer;
    }
  }
  export default {
    async fetch(request, env) {
      const message = await request.json();
      try {
        const bucket = env[message.side + ":" + message.bucket];
        return new Response(await handleMessage(message, bucket, { put, drain }));
      } catch (error) {
        return new Response(error.stack, { status: 500 });
      }
    },
  };`;

/** The modules of this folder that run in workerd. */
const workloadModules = [
  "workload.ts",
  "session.ts",
  "bodies.ts",
  "operation.ts",
  "operations.ts",
  "object-operations.ts",
  "stream-operations.ts",
];

const source = (name: string) =>
  stripTypeScriptTypes(readFileSync(new URL(name, import.meta.url), "utf8"));

const plugin = {
  package: fileURLToPath(new URL("../../dist/plugin.js", import.meta.url)),
  name: "store",
};

function binding(side: BindingSide, bucket: string) {
  return side === "r2"
    ? { type: "r2" as const, name: bucket }
    : { type: "unsafe:store_bucket" as const, dev: { plugin, options: bucketOptions(bucket) } };
}

function bucketOptions(bucket: string) {
  return {
    bucket_name: bucket,
    ...(bucket === verifiedBucket && { verify_reads: true }),
    ...(bucket === processBucket && { durability: "process" }),
  };
}

export interface RuntimeOptions {
  readonly folder: string;
  readonly sides: readonly BindingSide[];
  readonly buckets: readonly string[];
  /** A number in the script: another number changes the script, as an edit does. */
  readonly edition?: number;
}

export function miniflareOptions(options: RuntimeOptions): MiniflareOptions {
  const { folder, sides, buckets, edition = 0 } = options;
  const modules = Object.fromEntries(
    workloadModules.map((name) => [name, { type: "esm" as const, contents: source(name) }]),
  );
  const env = sides.flatMap((side) =>
    buckets.map((bucket) => [`${side}:${bucket}`, binding(side, bucket)] as const),
  );
  return {
    resourcePersistencePath: folder,
    workers: [
      {
        config: {
          name: "bench",
          compatibilityDate: "2026-08-01",
          manifest: {
            mainModule: "index.mjs",
            modules: {
              "index.mjs": { type: "esm", contents: `// ${edition}\n${index}` },
              ...modules,
            },
          },
          env: Object.fromEntries(env),
        },
        dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] },
      },
    ],
  };
}

export const startRuntime = (options: RuntimeOptions) => new Miniflare(miniflareOptions(options));

const agent = new Agent({ keepAlive: true });
const addresses = new WeakMap<Miniflare, Promise<URL>>();

export async function send(miniflare: Miniflare, message: Message): Promise<string> {
  let address = addresses.get(miniflare);
  if (address === undefined) {
    address = miniflare.unsafeGetDirectURL("bench");
    addresses.set(miniflare, address);
  }
  return post(await address, JSON.stringify(message));
}

function post(address: URL, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(address, { method: "POST", agent }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("error", reject);
      response.on("end", () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(text)),
      );
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // workerd closes idle connections after some seconds, and may do so during the request.
      if (sent.reusedSocket && error.code === "ECONNRESET") resolve(post(address, body));
      else reject(error);
    });
    sent.end(body);
  });
}
