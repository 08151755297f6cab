/**
 * The vitest pool of a project: `@cloudflare/vitest-pool-workers`, or its successor
 * `@cloudflare/vitest-plugin`. Both are resolved from the project, because the tests run on the
 * project's versions of wrangler and Miniflare.
 */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import { UserError } from "../base/user-error.ts";

export interface Socket {
  close(): void;
}

/** The part of the pool that is used. */
export interface Pool {
  readonly cloudflareTest: (options: unknown) => Plugin;
  readonly connectToMiniflareSocket: (miniflare: unknown, workerName: string) => Promise<Socket>;
  readonly getRunnerName: (project: unknown) => string;
}

type Version = readonly [major: number, minor: number];

/**
 * The packages with a pool, and their oldest supported versions. The successor is first: a project
 * with both packages is migrating to it.
 */
const pools: Readonly<Record<string, Version>> = {
  "@cloudflare/vitest-plugin": [1, 0],
  "@cloudflare/vitest-pool-workers": [0, 22],
};
const vitestMin: Version = [4, 1];

/** @throws UserError when the pool or vitest is missing or too old */
export async function findPool(folder: string): Promise<Pool> {
  requirePackage(folder, "vitest", vitestMin);
  for (const [packageName, versionMin] of Object.entries(pools)) {
    if (findPackage(folder, packageName) === null) continue;
    const { entry } = requirePackage(folder, packageName, versionMin);
    return (await import(pathToFileURL(entry).href)) as Pool;
  }
  throw new UserError(
    `ledge/vitest runs tests in ${Object.keys(pools).join(" or ")}, and ${folder} has neither. ` +
      "Install one: npm install --save-dev @cloudflare/vitest-plugin",
  );
}

function requirePackage(
  folder: string,
  packageName: string,
  [major, minor]: Version,
): FoundPackage {
  const found = findPackage(folder, packageName);
  const needs = `ledge/vitest needs ${packageName} ${major}.${minor} or later, and ${folder} has`;
  const install = `npm install --save-dev ${packageName}`;
  if (found === null) throw new UserError(`${needs} none. Install it: ${install}`);
  const [actualMajor = 0, actualMinor = 0] = found.version.split(".").map(Number);
  if (actualMajor < major || (actualMajor === major && actualMinor < minor)) {
    throw new UserError(`${needs} ${found.version}. Update it: ${install}@latest`);
  }
  return found;
}

interface FoundPackage {
  readonly version: string;
  /** The path of the module that an import of the package loads */
  readonly entry: string;
}

/** Looks into each `node_modules`, because a package may export neither its manifest nor a CommonJS entry. */
function findPackage(folder: string, packageName: string): FoundPackage | null {
  const { resolve } = createRequire(join(folder, "package.json"));
  for (const modules of resolve.paths(packageName) ?? []) {
    const path = join(modules, packageName);
    try {
      const text = readFileSync(join(path, "package.json"), "utf8");
      const manifest = JSON.parse(text) as { version: string; main?: string };
      return { version: manifest.version, entry: join(path, manifest.main ?? "index.js") };
    } catch {
      continue;
    }
  }
  return null;
}
