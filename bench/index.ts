/**
 * `npm run bench`: all that is measured, or what is named, with its options:
 * `npm run bench -- store --quick`, `npm run bench -- list`, `npm run bench -- dns`. Options alone
 * are those of the first, the store beside R2.
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

const given = process.argv.slice(2);
const [name, ...options] = given[0]?.startsWith("-") ? ["store", ...given] : given;
if (name !== undefined && benchmarks[name] === undefined) {
  console.error(
    `There is no benchmark "${name}". Name one of ${Object.keys(benchmarks).join(", ")}, or none for all.`,
  );
  process.exit(1);
}
for (const [key, program] of Object.entries(benchmarks)) {
  if (name !== undefined && name !== key) continue;
  console.log(`\n# ${key}\n`);
  const path = fileURLToPath(new URL(program, import.meta.url));
  const { status } = spawnSync(process.execPath, [path, ...options], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
