/** Options of Miniflare for workers that have a bucket. */
import { fileURLToPath } from "node:url";

export const plugin = {
  package: fileURLToPath(new URL("../../dist/plugin.js", import.meta.url)),
  name: "store",
};

/** Options of a bucket: plain JSON. */
export type BucketEntryOptions = Record<string, unknown>;

/** A bucket as a raw entry of Miniflare's `env`. */
export function bucketEntry(options: BucketEntryOptions) {
  return { type: "unsafe:store_bucket" as const, dev: { plugin, options } };
}

export const controlEntry = { type: "unsafe:store_control" as const, dev: { plugin, options: {} } };

export function worker(
  script: string,
  options: {
    name?: string;
    date?: string;
    flags?: string[];
    env?: Record<string, ReturnType<typeof bucketEntry> | typeof controlEntry>;
  } = {},
) {
  return {
    config: {
      name: options.name ?? "script",
      compatibilityDate: options.date ?? "2026-08-01",
      compatibilityFlags: options.flags ?? [],
      manifest: {
        mainModule: "index.mjs",
        modules: { "index.mjs": { type: "esm" as const, contents: script } },
      },
      env: {
        BUCKET: bucketEntry({ bucket_name: "photos" }),
        ...options.env,
      },
    },
  };
}
