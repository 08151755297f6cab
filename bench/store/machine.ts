/** The machine and the versions of a run. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, platform, release, totalmem } from "node:os";

const require = createRequire(import.meta.url);

function version(name: string, from = require): string {
  return (
    JSON.parse(readFileSync(from.resolve(`${name}/package.json`), "utf8")) as { version: string }
  ).version;
}

export function describeMachine() {
  const [cpu] = cpus();
  return {
    cpu: cpu?.model ?? "unknown",
    cores: cpus().length,
    memoryGibibytes: Math.round(totalmem() / 1024 ** 3),
    system: `${platform()} ${release()}`,
    node: process.versions.node,
    // The workerd that Miniflare uses, which this package may resolve to another version.
    workerd: version("workerd", createRequire(require.resolve("miniflare"))),
    miniflare: version("miniflare"),
    date: new Date().toISOString(),
  };
}

export type Machine = ReturnType<typeof describeMachine>;
