/**
 * `npm run test:matrix`: installs the packed package in new projects, each with another version of
 * the pool and the versions of wrangler and Miniflare that the pool depends on. Names on the
 * command line select some of the projects.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { overrides, devDependencies } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
) as { overrides: Record<string, string>; devDependencies: Record<string, string> };
const sample = fileURLToPath(new URL("fixtures/isolation", import.meta.url));

const pools: Record<string, Record<string, string>> = {
  "pool 0.22": { "@cloudflare/vitest-pool-workers": "0.22.0" },
  "pool 0.23": { "@cloudflare/vitest-pool-workers": "0.23.0" },
  plugin: { "@cloudflare/vitest-plugin": "latest" },
};

const chosen = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "ledge-matrix-"));
const results: string[] = [];
try {
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", work], {
    cwd: root,
    encoding: "utf8",
  }).trim();
  for (const [name, pool] of Object.entries(pools)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    console.log(`\n# ${name}\n`);
    results.push(
      `${tryPool(join(work, name.replace(" ", "-")), pool, join(work, packed))}  ${name}`,
    );
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(`\n${results.join("\n")}`);
process.exitCode = results.every((result) => result.startsWith("passed")) ? 0 : 1;

function tryPool(folder: string, pool: Record<string, string>, tarball: string): string {
  mkdirSync(folder, { recursive: true });
  cpSync(sample, folder, {
    recursive: true,
    filter: (path) => !path.slice(sample.length).includes("node_modules"),
  });
  const manifest = {
    name: "matrix",
    private: true,
    type: "module",
    devDependencies: {
      ...pool,
      ledge: `file:${tarball}`,
      vitest: "^4.1.0",
      vite: devDependencies["vite"],
    },
    // Versions with published builds for every platform (docs/decisions/0006-exact-tools.md).
    overrides,
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  const run = (command: string, ...args: string[]): boolean =>
    spawnSync(command, args, { cwd: folder, stdio: "inherit" }).status === 0;
  if (!run("npm", "install", "--no-audit", "--no-fund")) return "did not install";
  const versions = ["wrangler", "miniflare", "vitest", ...Object.keys(pool)].map((name) => {
    const path = join(folder, "node_modules", name, "package.json");
    const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string };
    return `${name} ${version}`;
  });
  console.log(versions.join(", "));
  return run("npx", "vitest", "run") ? "passed" : "failed";
}
