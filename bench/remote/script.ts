/** The script of the runtime: the workload on a bucket of the binding. */
import { handleMessage, type Client, type Message } from "./workload.ts";

/** The part of a bucket that the workload uses. */
interface Bucket {
  head(key: string): Promise<object | null>;
  get(
    key: string,
  ): Promise<{ body: ReadableStream<Uint8Array>; arrayBuffer(): Promise<ArrayBuffer> }>;
  put(
    key: string,
    value: Uint8Array | ReadableStream,
    options?: { onlyIf: { etagMatches: string } },
  ): Promise<{ etag: string } | null>;
  delete(key: string): Promise<void>;
  list(options: {
    prefix: string;
    include?: ("httpMetadata" | "customMetadata")[];
  }): Promise<{ objects: unknown[] }>;
}

declare class FixedLengthStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(lengthBytes: number);
}

const readBytes = 256 * 1024;

function clientOf(bucket: Bucket): Client {
  return {
    async head(key) {
      if ((await bucket.head(key)) === null) throw new Error(`There is no object ${key}`);
    },
    get: async (key) => (await (await bucket.get(key)).arrayBuffer()).byteLength,
    async getStream(key) {
      const reader = (await bucket.get(key)).body.getReader({ mode: "byob" });
      let size = 0;
      for (let buffer = new ArrayBuffer(readBytes); ;) {
        const { done, value } = await reader.read(new Uint8Array(buffer));
        if (done) return size;
        size += value.length;
        buffer = value.buffer;
      }
    },
    put: async (key, body) => ((await bucket.put(key, body)) as { etag: string }).etag,
    async putIf(key, body, etag) {
      const object = await bucket.put(key, body, { onlyIf: { etagMatches: etag } });
      if (object === null) throw new Error(`The condition of ${key} does not hold`);
      return object.etag;
    },
    async putStream(key, size, chunks) {
      const { readable, writable } = new FixedLengthStream(size);
      const write = async (): Promise<void> => {
        const writer = writable.getWriter();
        for (const chunk of chunks) await writer.write(chunk);
        await writer.close();
      };
      await Promise.all([bucket.put(key, readable), write()]);
    },
    delete: (key) => bucket.delete(key),
    list: async (prefix) => (await bucket.list({ prefix })).objects.length,
    async listWithMetadata(prefix) {
      const include = ["httpMetadata" as const, "customMetadata" as const];
      return (await bucket.list({ prefix, include })).objects.length;
    },
  };
}

export default {
  async fetch(request: Request, { BUCKET }: { BUCKET: Bucket }): Promise<Response> {
    try {
      await handleMessage(clientOf(BUCKET), (await request.json()) as Message);
      return new Response("");
    } catch (error) {
      return new Response((error as Error).stack ?? null, { status: 500 });
    }
  },
};
