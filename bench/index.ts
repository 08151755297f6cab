/**
 * `npm run bench`: the store beside R2, or what is named, with its options:
 * `npm run bench -- --quick`, `npm run bench -- list`, `npm run bench -- dns`; `all` for all of them.
 *
 * Each benchmark is a program of its own, so that none runs in what another has left behind.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const benchmarks: Record<string, string> = {
  store: "./store.ts",
  list: "./list-scaling.ts",
  dns: "./dns-queries.ts",
  "dns-api": "./dns-api.ts",
  pool: "./pool.ts",
};

/** Room enough that garbage is collected between measurements, and not in the midst of one. */
const heapFlags = ["--expose-gc", "--initial-old-space-size=512"];

const given = process.argv.slice(2);
const isNamed = given[0] !== undefined && !given[0].startsWith("-");
const [name = "store", ...options] = isNamed ? given : ["store", ...given];
if (name !== "all" && benchmarks[name] === undefined) {
  const known = Object.keys(benchmarks).join(", ");
  console.error(`There is no benchmark "${name}". Name one of ${known}, or "all".`);
  process.exit(1);
}
for (const [key, program] of Object.entries(benchmarks)) {
  if (name !== "all" && name !== key) continue;
  console.log(`\n# ${key}\n`);
  const path = fileURLToPath(new URL(program, import.meta.url));
  const { status } = spawnSync(process.execPath, [...heapFlags, path, ...options], {
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}
