/**
 * `npm run bench` compares the store with R2. The first argument names another benchmark, or `all`,
 * and the rest are its options: `npm run bench -- --quick`, `npm run bench -- list`.
 *
 * Each benchmark is a separate process, so that none inherits the memory of another.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const benchmarks: Record<string, string> = {
  store: "./store.ts",
  list: "./list-scaling.ts",
  dns: "./dns-queries.ts",
  "dns-api": "./dns-api.ts",
  "dns-start": "./dns-start.ts",
  pool: "./pool.ts",
  cli: "./cli.ts",
  dev: "./dev.ts",
  s3: "./s3.ts",
  explorer: "./explorer.ts",
  remote: "./remote.ts",
  edge: "./edge.ts",
  state: "./state.ts",
};

const nodeFlags = [
  // A heap large enough that garbage collection happens between measurements.
  "--expose-gc",
  "--initial-old-space-size=512",
  // Node warns that two of its modules are experimental.
  "--disable-warning=ExperimentalWarning",
];

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
  const { status } = spawnSync(process.execPath, [...nodeFlags, path, ...options], {
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}
