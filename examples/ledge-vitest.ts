/**
 * The vitest pool with the buckets of a project's `wrangler.jsonc`: what `ledge/vitest` will be.
 *
 * It stands here only until that entry point exists. An example then imports `ledge` from
 * "ledge/vitest", and this file goes.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { parse } from "jsonc-parser";

interface Configuration {
  store_buckets?: { binding: string; bucket_name: string }[];
  /** Any JSON, of which a string is the simplest */
  dns?: Record<string, string> & { binding?: string };
}

const pluginPath = fileURLToPath(new URL("../dist/plugin.js", import.meta.url));

export function ledge({ configPath }: { configPath: string }): ReturnType<typeof cloudflareTest> {
  const { store_buckets: buckets = [], dns } = parse(
    readFileSync(configPath, "utf8"),
  ) as Configuration;
  const bucketBindings = buckets.map(({ binding, ...options }) => ({
    name: binding,
    type: "store_bucket",
    plugin: { package: pluginPath, name: "store" },
    options,
  }));
  const { binding: dnsBinding, ...dnsOptions } = dns ?? {};
  const dnsBindings = dnsBinding
    ? [
        {
          name: dnsBinding,
          type: "dns",
          plugin: { package: pluginPath, name: "dns" },
          options: dnsOptions,
        },
      ]
    : [];
  return cloudflareTest({
    wrangler: { configPath },
    miniflare: { unsafeBindings: [...bucketBindings, ...dnsBindings] },
  });
}
