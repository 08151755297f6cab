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

/** The part of the pool that is used. */
export interface Pool {
  readonly cloudflareTest: (options: unknown) => Plugin;
  readonly connectToMiniflareSocket: (miniflare: unknown, workerName: string) => Promise<unknown>;
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
  requireVersion(folder, "vitest", vitestMin);
  for (const [packageName, versionMin] of Object.entries(pools)) {
    const found = findPackage(folder, packageName);
    if (found === null) continue;
    requireVersion(folder, packageName, versionMin);
    return (await import(pathToFileURL(join(found.folder, found.entry)).href)) as Pool;
  }
  throw new UserError(
    `ledge/vitest runs tests in ${Object.keys(pools).join(" or ")}, and ${folder} has neither. ` +
      "Install one: npm install --save-dev @cloudflare/vitest-plugin",
  );
}

function requireVersion(folder: string, packageName: string, [major, minor]: Version): void {
  const found = findPackage(folder, packageName);
  if (found === null) {
    throw new UserError(
      `ledge/vitest needs ${packageName} ${major}.${minor} or later, and ${folder} has none. ` +
        `Install it: npm install --save-dev ${packageName}`,
    );
  }
  const [actualMajor = 0, actualMinor = 0] = found.version.split(".").map(Number);
  if (actualMajor < major || (actualMajor === major && actualMinor < minor)) {
    throw new UserError(
      `ledge/vitest needs ${packageName} ${major}.${minor} or later, and ${folder} has ` +
        `${found.version}. Update it: npm install --save-dev ${packageName}@latest`,
    );
  }
}

interface FoundPackage {
  readonly folder: string;
  readonly version: string;
  readonly entry: string;
}

/** Looks into each `node_modules`, because a package may export neither its manifest nor a CommonJS entry. */
function findPackage(folder: string, packageName: string): FoundPackage | null {
  const { resolve } = createRequire(join(folder, "package.json"));
  for (const modules of resolve.paths(packageName) ?? []) {
    const path = join(modules, packageName);
    let manifest: { version: string; main?: string };
    try {
      manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as typeof manifest;
    } catch {
      continue;
    }
    return { folder: path, version: manifest.version, entry: manifest.main ?? "index.js" };
  }
  return null;
}
