/**
 * Ours and R2: two bindings of one script, so that one process of workerd serves both.
 *
 * Requests go to the script's own socket. Miniflare's `dispatchFetch` takes milliseconds of its
 * own on the way, which would be most of what a row of single requests shows.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { Miniflare, type MiniflareOptions } from "miniflare";
import type { Message } from "./workload.ts";

export type BindingSide = "ours" | "r2";

const index = `
  import { answer } from "./workload.ts";
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
        return new Response(await answer(message, env[message.side + ":" + message.bucket], { put, drain }));
      } catch (error) {
        return new Response(error.stack, { status: 500 });
      }
    },
  };`;

/** What of this folder runs in workerd. */
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
    : { type: "unsafe:store_bucket" as const, dev: { plugin, options: { bucket_name: bucket } } };
}

export interface RuntimeOptions {
  readonly folder: string;
  readonly sides: readonly BindingSide[];
  readonly buckets: readonly string[];
  /** Makes the script another one, as an edit does. */
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
          type: "worker",
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
      // workerd ends connections that were idle for seconds, and may do so just now.
      if (sent.reusedSocket && error.code === "ECONNRESET") resolve(post(address, body));
      else reject(error);
    });
    sent.end(body);
  });
}
