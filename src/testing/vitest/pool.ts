/**
 * The vitest pool of a project: `@cloudflare/vitest-pool-workers`, or its successor
 * `@cloudflare/vitest-plugin`. Both are resolved from the project, because the tests run on the
 * project's versions of wrangler and Miniflare. Its runtimes keep their state in memory, and watch mode reuses them.
 *
 * This file has everything that `ledge/vitest` uses of the pool in Node. `testing/pool-internal.d.ts` has
 * what the runner uses in workerd.
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import type { PoolRunnerInitializer, PoolWorker } from "vitest/node";
import { checkVersion, findPackage, isOtherMajor } from "../../base/package-version.ts";
import { testedVersions } from "../../base/tested-versions.ts";
import { UserError } from "../../base/user-error.ts";
import { OwnFolder } from "../../state/runs.ts";
import { findMemory, ownFolderPrefix } from "../../state/temporary-folder.ts";

/** What happens when vitest closes, in this order. */
export type EndActions = (() => unknown)[];

/** The part of the pool that is used. */
export interface PoolModule {
  /** Name and version. */
  readonly label: string;
  /** Whether the pool can read `cloudflare.config.ts`: older versions ignore the option. */
  hasNewConfig(): boolean;
  /** The plugin of Vite that runs tests in the pool. */
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

/** The packages with a pool. The successor is first: a project with both packages is migrating. */
const pools = ["@cloudflare/vitest-plugin", "@cloudflare/vitest-pool-workers"] as const;

/** @throws UserError when the pool or vitest is missing or too old, or when they do not fit */
export async function findPool(folder: string): Promise<PoolModule> {
  const [, vitestNewest] = testedVersions.vitest;
  const vitest = findPackage(folder, "vitest");
  if (vitest === null) {
    throw new UserError(
      `ledge/vitest needs vitest, and ${folder} has none. Install it: ` +
        "npm install --save-dev vitest",
    );
  }
  for (const name of pools) {
    const found = findPackage(folder, name);
    if (found === null) continue;
    checkVersion(name, found.version, folder);
    const range = found.peers["vitest"] ?? "*";
    // vitest would start no test, with an error that does not say why.
    if (isOtherMajor(vitest.version, range)) {
      throw new UserError(
        `${name} ${found.version} runs tests of vitest ${range}, and ${folder} has vitest ${vitest.version}. ` +
          `Install vitest@${vitestNewest}, or a version of ${name} for vitest ${vitest.version}.`,
      );
    }
    checkVersion("vitest", vitest.version, folder);
    const module = (await import(pathToFileURL(found.entry).href)) as Partial<PoolModule>;
    const { cloudflareTest, connectToMiniflareSocket, getRunnerName } = module;
    if (cloudflareTest !== undefined) {
      return {
        label: `${name} ${found.version}`,
        hasNewConfig: () => readFileSync(found.entry, "utf8").includes("cloudflare.config.ts"),
        cloudflareTest,
        connectToMiniflareSocket,
        getRunnerName,
      };
    }
    const [, newest] = testedVersions[name];
    throw new UserError(
      `${name} ${found.version} has no cloudflareTest, which ledge/vitest uses. Install ` +
        `${name}@${newest}, with which Ledge was tested, or a newer version of ledge.`,
    );
  }
  throw new UserError(
    `ledge/vitest runs tests in ${pools.join(" or ")}, and ${folder} has neither. ` +
      "Install one: npm install --save-dev @cloudflare/vitest-plugin" +
      // npm refuses the plugin beside another major version.
      (isOtherMajor(vitest.version, vitestNewest) ? ` vitest@${vitestNewest}` : ""),
  );
}

/**
 * A pool runner whose workers reuse the runtimes of stopped workers.
 *
 * vitest stops a worker of its pool after every run, and starts a worker for the next run. In watch
 * mode the start of the runtime is most of the waiting time. So the runtime of a stopped worker
 * stays alive, and the next run connects to it. The test runner resets the runtime at the end of a
 * run (`runner.ts`). A runtime of an older version of the configuration is not reused.
 *
 * A pool of an unknown version, which lacks the functions for this, gets its runner back.
 */
export function reuseRuntimes(
  { connectToMiniflareSocket: connect, getRunnerName }: PoolModule,
  runner: PoolRunnerInitializer,
  { versionNow, atEnd }: { versionNow: () => number; atEnd: EndActions },
): PoolRunnerInitializer {
  if (connect === undefined || getRunnerName === undefined) return runner;
  const idle: RuntimeWorker[] = [];
  const stopIdle = () => Promise.all(idle.splice(0).map((worker) => worker.stop()));
  let version = versionNow();
  atEnd.unshift(stopIdle);
  return {
    name: runner.name,
    createPoolWorker(options) {
      const ended = version === versionNow() ? undefined : stopIdle();
      version = versionNow();
      const reused = idle.pop();
      const worker: RuntimeWorker = reused ?? runner.createPoolWorker(options);
      const ownVersion = version;
      return {
        name: worker.name,
        start: async () => {
          await ended;
          if (reused === undefined) return worker.start();
          worker.socket = await connect(worker.mf, getRunnerName(options.project));
        },
        stop: async () => {
          const isOld = ownVersion !== versionNow();
          if (isOld || worker.mf === undefined || worker.socket === undefined) return worker.stop();
          worker.socket.close();
          worker.socket = undefined;
          idle.push(worker);
        },
        send: (message) => worker.send(message),
        on: (event, callback) => worker.on(event, callback),
        off: (event, callback) => worker.off(event, callback),
        deserialize: (data) => worker.deserialize(data),
      };
    },
  };
}

/**
 * A pool runner whose runtimes have their state on a memory file system, where there is room.
 *
 * Most of the time of a write is that SQLite waits for the disk, and the state of a test ends with
 * the test. Miniflare keeps the state of a runtime in a folder of the temporary folder, so the
 * temporary folder of this process is another one while a runtime starts.
 */
export function keepStateInMemory(
  runner: PoolRunnerInitializer,
  find: () => string | null = findMemory,
): PoolRunnerInitializer {
  return aroundStart(runner, (start) => withMemoryFolder(find(), start));
}

/** A pool runner whose workers start inside of `around`. */
export function aroundStart(
  runner: PoolRunnerInitializer,
  around: (start: () => Promise<void>) => Promise<void>,
): PoolRunnerInitializer {
  return {
    name: runner.name,
    createPoolWorker(options) {
      const worker = runner.createPoolWorker(options);
      const start = worker.start.bind(worker);
      worker.start = () => around(start);
      return worker;
    },
  };
}

let starts = 0;
let diskFolder: string | undefined;

/** Runtimes start at the same time, and share the folder. */
async function withMemoryFolder<Result>(
  memory: string | null,
  start: () => Promise<Result>,
): Promise<Result> {
  const folder = memory === null ? null : ownFolderIn(memory);
  if (folder === null) return start();
  if (starts++ === 0) {
    diskFolder = process.env["TMPDIR"];
    process.env["TMPDIR"] = folder;
  }
  try {
    return await start();
  } finally {
    if (--starts === 0) {
      if (diskFolder === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = diskFolder;
    }
  }
}

let ownFolder: string | undefined;

/** The folder of this process, or `null` if the file system refuses one. */
function ownFolderIn(memory: string): string | null {
  try {
    ownFolder ??= makeOwnFolder(memory);
    return ownFolder;
  } catch {
    return null;
  }
}

function makeOwnFolder(memory: string): string {
  const folder = new OwnFolder(memory, ownFolderPrefix);
  process.once("exit", () => folder.remove());
  return folder.path;
}
