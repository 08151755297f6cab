/** A client of the store of a test's runtime, as a process has it that serves other programs. */
import { join } from "node:path";
import type { FoundObject } from "../../../src/store/node/bucket.ts";
import { StoreClient } from "../../../src/store/node/store-client.ts";

/** @param folder the folder of the runtime's resources */
export function openStoreClient(folder: string, names = ["photos"]): StoreClient {
  return new StoreClient(join(folder, "store"), () => ({ names, file: "ledge.toml" }));
}

/** Content in chunks of a size that no buffer of the store has. */
export async function* chunksOf(bytes: Uint8Array, size = 70_001): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.slice(start, start + size);
}

/** Reads content to its end, and closes it. */
export async function readAll({ content }: FoundObject): Promise<Uint8Array> {
  if (content instanceof Uint8Array) return content;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of content.chunks()) chunks.push(Buffer.from(chunk));
  } finally {
    content.close();
  }
  return Buffer.concat(chunks);
}

export const description = { http: {}, custom: {}, storageClass: "Standard" } as const;
