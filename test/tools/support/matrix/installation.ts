/** Installs packages from the registry, into folders outside of the repository. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const repository = JSON.parse(
  readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"),
) as {
  devDependencies: Record<string, string>;
  overrides: Record<string, string>;
  allowScripts: Record<string, boolean>;
};

/** The registry has no such package for this machine. Other failures are mistakes of ours. */
export class NotAvailable extends Error {}

/** Installs the packages and the packed `ledge`, as `npm install` does for a user. */
export function install(
  folder: string,
  packages: Readonly<Record<string, string>>,
  tarball: string,
): void {
  mkdirSync(folder, { recursive: true });
  const manifest = {
    name: "matrix",
    private: true,
    type: "module",
    devDependencies: {
      ...packages,
      ...miniflareOf(packages),
      // The tests of the pool sign requests to the S3-compatible API.
      aws4fetch: repository.devDependencies["aws4fetch"],
      ledge: `file:${tarball}`,
    },
    // Versions with published builds for every platform (docs/decisions/0006-exact-tools.md).
    overrides: repository.overrides,
    allowScripts: repository.allowScripts,
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  npmInstall(folder);
}

/** A project that starts Miniflare itself names the version that its wrangler depends on. */
function miniflareOf({ wrangler }: Readonly<Record<string, string>>): { miniflare?: string } {
  if (wrangler === undefined) return {};
  return { miniflare: registryField(`wrangler@${wrangler}`, "dependencies.miniflare") };
}

/** What npm installs of a package without a version. */
export function latestVersion(name: string): string {
  return registryField(name, "version");
}

function registryField(wanted: string, field: string): string {
  const args = ["view", wanted, field, "--prefer-online", "--loglevel=error"];
  const { stdout } = spawnSync("npm", args, { encoding: "utf8" });
  if (stdout.trim() === "") throw new NotAvailable(`The registry has no ${wanted}.`);
  return stdout.trim();
}

/** @returns the path of a program of that version or range */
export function installNode(folder: string, version: string): string {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const name = `node-${platform}-${process.arch}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, dependencies: { [name]: version } }),
  );
  npmInstall(folder);
  return join(folder, "node_modules", name, "bin", platform === "win" ? "node.exe" : "node");
}

/** npm would take "latest" from its cache. */
export function npmInstall(folder: string, ...options: string[]): void {
  const { status, stdout, stderr } = spawnSync(
    "npm",
    ["install", "--prefer-online", "--no-audit", "--no-fund", "--loglevel=error", ...options],
    { cwd: folder, encoding: "utf8" },
  );
  if (status === 0) return;
  const text = `${stdout}${stderr}`;
  const isUnavailable = /code (?:ETARGET|E404|EBADPLATFORM|ENOTFOUND|EAI_AGAIN|ECONN\w+)/.test(
    text,
  );
  throw isUnavailable ? new NotAvailable(text) : new Error(text);
}

/** The versions of a package in an installation: the first is the project's own, if there is one. */
export function installedVersions(folder: string, name: string): string[] {
  const text = readFileSync(join(folder, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(text) as { packages: Record<string, { version?: string }> };
  const own = packages[`node_modules/${name}`]?.version;
  const others = Object.entries(packages)
    .filter(([path]) => path.endsWith(`/node_modules/${name}`))
    .map(([, { version }]) => version);
  return [...new Set([own, ...others])].filter((version) => version !== undefined);
}
