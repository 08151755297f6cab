/**
 * The vitest pool of a project: `@cloudflare/vitest-pool-workers`, or its successor
 * `@cloudflare/vitest-plugin`. Both are resolved from the project, because the tests run on the
 * project's versions of wrangler and Miniflare.
 *
 * This file has everything that `ledge/vitest` uses of the pool in Node. `testing/pool-internal.d.ts` has
 * what the runner uses in workerd.
 */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import type { PoolWorker } from "vitest/node";
import { checkVersion, type TestedPackage } from "../base/package-version.ts";
import { testedVersions } from "../base/tested-versions.ts";
import { UserError } from "../base/user-error.ts";

/** The part of the pool that is used. */
interface PoolModule {
  readonly cloudflareTest: (options: unknown) => Plugin;
  /** Without these two, watch mode starts a runtime for each run. */
  readonly connectToMiniflareSocket?: (miniflare: unknown, workerName: string) => Promise<Socket>;
  readonly getRunnerName?: (project: unknown) => string;
}

interface Socket {
  close(): void;
}

/** A worker of the pool, with its runtime and its connection. */
interface RuntimeWorker extends PoolWorker {
  mf?: unknown;
  socket?: Socket | undefined;
}

export class Pool {
  readonly #module: PoolModule;

  constructor(module: PoolModule) {
    this.#module = module;
  }

  /** The plugin of Vite that runs tests in the pool. */
  plugin(options: unknown): Plugin {
    return this.#module.cloudflareTest(options);
  }

  /**
   * Closes the connection of a worker, whose runtime stays alive.
   *
   * @returns `false` for a pool of an unknown version, whose workers cannot be reused
   */
  disconnect(worker: RuntimeWorker): boolean {
    const { connectToMiniflareSocket, getRunnerName } = this.#module;
    if (connectToMiniflareSocket === undefined || getRunnerName === undefined) return false;
    if (worker.mf === undefined || worker.socket === undefined) return false;
    worker.socket.close();
    worker.socket = undefined;
    return true;
  }

  /** Connects a worker whose connection was closed to its runtime. */
  async reconnect(worker: RuntimeWorker, project: unknown): Promise<void> {
    const { connectToMiniflareSocket: connect, getRunnerName } = this.#module;
    worker.socket = await connect?.(worker.mf, getRunnerName?.(project) ?? "");
  }
}

/** The packages with a pool. The successor is first: a project with both packages is migrating. */
const pools = ["@cloudflare/vitest-plugin", "@cloudflare/vitest-pool-workers"] as const;

/** @throws UserError when the pool or vitest is missing or too old */
export async function findPool(folder: string): Promise<Pool> {
  const vitest = findPackage(folder, "vitest");
  if (vitest === null) {
    throw new UserError(
      `ledge/vitest needs vitest, and ${folder} has none. Install it: ` +
        "npm install --save-dev vitest",
    );
  }
  checkVersion("vitest", vitest.version, folder);
  for (const name of pools) {
    const found = findPackage(folder, name);
    if (found === null) continue;
    checkVersion(name, found.version, folder);
    const module = (await import(pathToFileURL(found.entry).href)) as Partial<PoolModule>;
    if (module.cloudflareTest !== undefined) return new Pool(module as PoolModule);
    const [, newest] = testedVersions[name];
    throw new UserError(
      `${name} ${found.version} has no cloudflareTest, which ledge/vitest uses. Install ` +
        `${name}@${newest}, with which Ledge was tested, or a newer version of ledge.`,
    );
  }
  throw new UserError(
    `ledge/vitest runs tests in ${pools.join(" or ")}, and ${folder} has neither. ` +
      "Install one: npm install --save-dev @cloudflare/vitest-plugin",
  );
}

interface FoundPackage {
  readonly version: string;
  /** The path of the module that an import of the package loads */
  readonly entry: string;
}

/** Looks into each `node_modules`, because a package may export neither its manifest nor a CommonJS entry. */
function findPackage(folder: string, packageName: TestedPackage): FoundPackage | null {
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
