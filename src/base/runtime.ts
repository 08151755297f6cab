/** The runtime: Miniflare and wrangler, and what this package gives them to load. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { codeCache } from "./code-cache.ts";
import type * as Miniflare from "miniflare";
import type * as Wrangler from "wrangler";

/** Of the workers in this package. The companion worker's wrangler.toml has the same date. */
export const ownCompatibilityDate = "2026-08-01";

/** The module that Miniflare loads for our bindings. The build puts it beside this module. */
export const pluginPath = fileURLToPath(new URL("./plugin.js", import.meta.url));

const require = createRequire(import.meta.url);

/**
 * Miniflare and wrangler are CommonJS files of several megabytes. Before Node imports such a file
 * from a module, Node reads the whole file for the names of its exports: 55 ms for Miniflare and
 * 140 ms for wrangler, even for a file that is loaded already, as Miniflare is when it loads our
 * plugin for wrangler. `require()` returns the same module without that delay.
 */
export function loadMiniflare(): typeof Miniflare {
  codeCache.load(require.resolve("miniflare"));
  return require("miniflare") as typeof Miniflare;
}

export function loadWrangler(): typeof Wrangler {
  const path = require.resolve("wrangler");
  codeCache.load(createRequire(path).resolve("miniflare"));
  codeCache.load(path);
  return require("wrangler") as typeof Wrangler;
}

const workerdModules = new Map<string, string>();

/** The source of a module that workerd loads. The build makes one file of each. */
export function workerdModule(name: string): string {
  let source = workerdModules.get(name);
  if (source === undefined) {
    source = readFileSync(new URL(`./workerd/${name}.js`, import.meta.url), "utf8");
    workerdModules.set(name, source);
  }
  return source;
}
