/** What this package gives Miniflare and wrangler to load. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Of the workers in this package. The companion worker's wrangler.toml has the same date. */
export const ownCompatibilityDate = "2026-08-01";

/** The module that Miniflare loads for our bindings. The build puts it beside this module. */
export const pluginPath = fileURLToPath(new URL("./plugin.js", import.meta.url));

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
