/** Modules that workerd loads. They are built beside this one, each into one file. */
import { readFileSync } from "node:fs";

const sources = new Map<string, string>();

export function workerdModule(name: string): string {
  let source = sources.get(name);
  if (source === undefined) {
    source = readFileSync(new URL(`./workerd/${name}.js`, import.meta.url), "utf8");
    sources.set(name, source);
  }
  return source;
}
