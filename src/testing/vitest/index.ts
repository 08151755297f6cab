/**
 * `ledge/vitest`: tests in the vitest pool, with the buckets and the DNS of the configuration file.
 *
 *     import { ledge } from "ledge/vitest";
 *     import { defineConfig } from "vitest/config";
 *
 *     export default defineConfig({ plugins: [ledge()] });
 *
 * A workspace of vitest has many projects, and the plugin of each is made in the same folder, before
 * the root of the project is known. So the plugin looks for the pool when Vite tells the root, and
 * reads the configuration file when vitest has the project.
 */
import "../../base/require-node.ts";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import type { ResolvedConfig, TestProject, Vitest } from "vitest/node";
import { UserError } from "../../base/user-error.ts";
import { isOfVitest } from "../../base/vitest-config.ts";
import { optionsKey } from "../controls.ts";
import {
  checkOptions,
  isolatedKinds,
  type LedgeOptions,
  type LedgeOptionsFunction,
} from "./options.ts";
import {
  aroundStart,
  findPool,
  keepStateInMemory,
  reuseRuntimes,
  type EndActions,
  type PoolModule,
} from "./pool.ts";
import { hideMessagesOfIsolation } from "./runtime-messages.ts";
import { ProjectOptions } from "./pool-options.ts";

export type { IsolatedKind, LedgeOptions, LedgeOptionsFunction, PoolOptions } from "./options.ts";

const runnerPath = fileURLToPath(new URL("./vitest-runner.js", import.meta.url));

/**
 * The plugin of the pool, with the bindings of the configuration file, and with isolation of every
 * test. All other options are passed on to the pool.
 */
export function ledge(options: LedgeOptions | LedgeOptionsFunction = {}): Plugin[] {
  if (typeof options !== "function") checkOptions(options);
  const kinds = isolatedKinds(typeof options === "function" ? true : options.isolate);
  const isolate = kinds.length > 0;
  const { unused: unusedFaults = "warn" } = (typeof options === "object" && options.faults) || {};
  const inMemory = typeof options === "function" || options.memory !== false;
  let pool: PoolModule;
  const poolPlugin: Plugin = {
    name: "ledge:pool",
    // One file can configure Vite and vitest.
    apply: isOfVitest,
    async config(viteConfig, environment) {
      pool = await findPool(resolve(viteConfig.root ?? "."));
      const { configureVitest: _, ...hooks } = pool.cloudflareTest({});
      // Vite reads the other hooks of a plugin after the hook `config`.
      Object.assign(poolPlugin, hooks);
      return callHook(hooks.config, this, viteConfig, environment);
    },
  };
  return [
    poolPlugin,
    {
      name: "ledge:vitest",
      enforce: "post",
      apply: isOfVitest,
      configureVitest(context) {
        const { vitest, project } = context;
        const { config } = project;
        if (config.runner !== undefined && isolate) {
          throw new UserError(
            `The project sets a test runner (${config.runner}), but isolation needs the ` +
              "runner of ledge. Remove the runner, or turn isolation off: ledge({ isolate: false }).",
          );
        }
        const atEnd: EndActions = [];
        const ofProject = new ProjectOptions(options, { root: config.root, pool, atEnd });
        const { configureVitest } = pool.cloudflareTest(ofProject.forPool);
        callHook(configureVitest, undefined, context);
        const reusesRuntime = vitest.config.watch;
        if (isolate) {
          config.runner = runnerPath;
          hideMessagesOfIsolation(process.stdout);
          hideMessagesOfIsolation(process.stderr);
        }
        config.onStackTrace = withoutOwnFrames(config.onStackTrace);
        const hasOtherWorkers =
          typeof options === "function" || options.miniflare?.["workers"] !== undefined;
        project.provide(optionsKey, {
          isolate: kinds,
          reusesRuntime,
          unusedFaults,
          hasOtherWorkers,
        });
        if (vitest.config.watch) runAgainOnChange(vitest, project, ofProject);
        if (config.poolRunner !== undefined) {
          config.poolRunner = aroundStart(config.poolRunner, ofProject.start);
          if (inMemory) config.poolRunner = keepStateInMemory(config.poolRunner);
          if (reusesRuntime && isolate) {
            config.poolRunner = reuseRuntimes(pool, config.poolRunner, {
              versionNow: () => ofProject.version,
              atEnd,
            });
          }
        }
        vitest.onClose(async () => {
          for (const act of atEnd) await act();
        });
      },
    },
  ];
}

type FrameFilter = NonNullable<ResolvedConfig["onStackTrace"]>;

/**
 * Leaves the frames of this package out of the stack of an error in a test: vitest shows the code of the
 * first frame, which is then the line of the user. A stack without such a line stays whole.
 */
function withoutOwnFrames(filter: FrameFilter | undefined): FrameFilter {
  const folder = dirname(runnerPath).replaceAll("\\", "/");
  const isOfUser = (line: string): boolean =>
    /^\s+at .*[/\\]/.test(line) &&
    !line.includes(folder) &&
    !/\/node_modules\/|cloudflare:/.test(line);
  return (error, frame) => {
    const isOwn = frame.file.startsWith(`${folder}/`);
    if (isOwn && error.stack?.split("\n").some(isOfUser)) return false;
    return filter?.(error, frame);
  };
}

/** Calls a hook, which is a function or an object with a function. */
function callHook<This, Args extends unknown[], Result>(
  hook:
    | ((this: This, ...args: Args) => Result)
    | { handler: (this: This, ...args: Args) => Result }
    | undefined,
  self: This,
  ...args: Args
): Result | undefined {
  return (typeof hook === "object" ? hook.handler : hook)?.apply(self, args);
}

/** An editor may write a file in steps. */
const settleMilliseconds = 100;

/**
 * Watch mode: after a change of the configuration file the tests of the project run again, with new
 * runtimes. A file with mistakes runs no test.
 *
 * vitest asks `testsToRun` at once. The file is read when it has settled; if it has no mistake, vitest
 * hears of the change a second time, and gets the tests.
 */
function runAgainOnChange(vitest: Vitest, project: TestProject, options: ProjectOptions): void {
  const { watcher } = vitest.vite;
  if (options.folder !== undefined) watcher.add(options.folder);
  let timer: NodeJS.Timeout | undefined;
  let paths: string[] | undefined;
  const read = async (changed: string): Promise<void> => {
    const problem = readAgain(project, options);
    if (problem === null) {
      ({ testFiles: paths } = await project.globTestFiles());
      watcher.emit("change", changed);
    } else {
      vitest.logger.error(`\n${problem}\nThe tests run again when the file has no mistake.`);
    }
  };
  (vitest.config.watchTriggerPatterns ??= []).push({
    pattern: /^.*$/,
    testsToRun: (changed) => {
      if (!options.dependsOn(resolve(changed))) return;
      const found = paths;
      paths = undefined;
      if (found !== undefined) return found;
      clearTimeout(timer);
      timer = setTimeout(() => void read(changed), settleMilliseconds);
    },
  });
  vitest.onClose(() => clearTimeout(timer));
}

/** @returns the mistakes of the configuration file */
function readAgain(project: TestProject, options: ProjectOptions): string | null {
  // The module `cloudflare:test` of the pool imports the script, which the file names.
  for (const { moduleGraph } of Object.values(project.vite.environments))
    moduleGraph.invalidateAll();
  try {
    options.readAgain();
    return null;
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}
