/**
 * Miniflare and wrangler.
 *
 * Both are CommonJS, and megabytes of it. Before Node lets a module import such a file it reads all
 * of it, for the names that it exports: 55 ms for Miniflare and 140 for wrangler, even if the file
 * was loaded long ago, as Miniflare was when it loads our plugin for wrangler. Who requires it waits
 * for none of that, and gets the same.
 */
import { createRequire } from "node:module";
import type * as Miniflare from "miniflare";
import type * as Wrangler from "wrangler";

const require = createRequire(import.meta.url);

export function loadMiniflare(): typeof Miniflare {
  return require("miniflare") as typeof Miniflare;
}

export function loadWrangler(): typeof Wrangler {
  return require("wrangler") as typeof Wrangler;
}
