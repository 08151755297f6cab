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
import { randomBytes } from "node:crypto";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import type { ProvidedContext } from "vitest";
import type { ResolvedConfig } from "vitest/node";
import { hasRuntimeSockets } from "../../state/sockets.ts";
import { pluginPath } from "../../base/runtime.ts";
import { UserError } from "../../base/user-error.ts";
import { isOfVitest } from "../../base/vitest-config.ts";
import { hasRpc, type BucketBinding } from "../../store/config/store-buckets.ts";
import { newsOf, readConfig, type ProjectConfig } from "../../config/read-config.ts";
import { remotePlace } from "../../store/config/remotes.ts";
import {
  writeTemporaryConfig,
  toWranglerTable,
  unsafeBindings,
} from "../../config/wrangler-config.ts";
import { controlBinding, dnsBinding, optionsKey, stateBinding } from "../controls.ts";
import { stateKinds, type StateKind } from "../isolation/state-files.ts";
import {
  findPool,
  keepStateInMemory,
  reuseRuntimes,
  type EndActions,
  type PoolModule,
} from "./pool.ts";

/** The options of the pool: `main`, `miniflare`, `wrangler`, and others. */
export interface PoolOptions {
  miniflare?: Record<string, unknown>;
  wrangler?: { configPath?: string; environment?: string };
  [option: string]: unknown;
}

export interface LedgeOptions extends PoolOptions {
  /**
   * The configuration file, relative to the project's root. Default: the nearest file in or above
   * the root.
   */
  configPath?: string;
  environment?: string;
  /** `true`: the store also serves `r2_buckets`, so that a project of wrangler needs no edit. */
  adopt?: boolean;
  /**
   * What of the writes of a test later tests do not see: everything by default. `false` isolates
   * nothing, and a list only the kinds of bindings in it.
   */
  isolate?: boolean | readonly IsolatedKind[];
  /** `false`: runtimes keep their state on the disk, also where a memory file system has room. */
  memory?: boolean;
}

export type IsolatedKind = "store" | "dns" | StateKind;

/** As in the pool: options that depend on values which the project's global setup provides. */
export type LedgeOptionsFunction = (context: {
  inject: <Key extends keyof ProvidedContext>(key: Key) => ProvidedContext[Key];
}) => FunctionOptions | Promise<FunctionOptions>;

/** The other options are needed before the values are known. */
type FunctionOptions = Omit<LedgeOptions, "isolate" | "memory">;

type PoolContext = Parameters<LedgeOptionsFunction>[0];

const runnerPath = fileURLToPath(new URL("./vitest-runner.js", import.meta.url));

/**
 * The plugin of the pool, with the bindings of the configuration file, and with isolation of every
 * test. All other options are passed on to the pool.
 */
export function ledge(options: LedgeOptions | LedgeOptionsFunction = {}): Plugin[] {
  const kinds = isolatedKinds(typeof options === "function" ? true : options.isolate);
  const isolate = kinds.length > 0;
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
        const { configureVitest } = pool.cloudflareTest(
          projectOptions(options, config.root, atEnd),
        );
        callHook(configureVitest, undefined, context);
        const reusesRuntime = vitest.config.watch;
        if (isolate) config.runner = runnerPath;
        config.onStackTrace = withoutOwnFrames(config.onStackTrace);
        project.provide(optionsKey, { isolate: kinds, reusesRuntime });
        if (config.poolRunner !== undefined) {
          if (inMemory) config.poolRunner = keepStateInMemory(config.poolRunner);
          if (reusesRuntime && isolate) {
            config.poolRunner = reuseRuntimes(pool, config.poolRunner, atEnd);
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

function projectOptions(
  options: LedgeOptions | LedgeOptionsFunction,
  root: string,
  atEnd: EndActions,
): PoolOptions | ((context: PoolContext) => Promise<PoolOptions>) {
  if (typeof options !== "function") return resolveOptions(options, root, atEnd);
  // The pool asks before every test file.
  let resolved: Promise<PoolOptions> | undefined;
  return (context) =>
    (resolved ??= Promise.resolve(options(context)).then((given) =>
      resolveOptions(given, root, atEnd),
    ));
}

/** @throws UserError with the mistakes of the configuration file */
function resolveOptions(options: LedgeOptions, root: string, atEnd: EndActions): PoolOptions {
  const { configPath, environment, adopt, isolate, memory: _, ...poolOptions } = options;
  const config = readConfig({
    folder: root,
    configPath: configPath ?? poolOptions.wrangler?.configPath,
    environment: environment ?? poolOptions.wrangler?.environment,
    adopt,
  });
  for (const warning of newsOf(config)) console.warn(warning);
  if (
    config.path === null &&
    poolOptions["main"] === undefined &&
    poolOptions.miniflare === undefined
  ) {
    throw new UserError(
      `There is no wrangler.toml, wrangler.json or wrangler.jsonc in ${root} or above it. ` +
        "Add one, name one with configPath, or give the pool's options main and miniflare.",
    );
  }
  const derivedPath = config.path === null ? undefined : writeDerivedFile(config, atEnd);
  const kinds = isolatedKinds(isolate);
  return withBindings(
    { ...config, buckets: withRunPrefix(config.buckets, atEnd) },
    poolOptions,
    derivedPath,
    stateKinds.filter((kind) => kinds.includes(kind)),
  );
}

const allKinds: readonly IsolatedKind[] = ["store", "dns", ...stateKinds];

/** @throws UserError for a kind that does not exist */
function isolatedKinds(isolate: LedgeOptions["isolate"] = true): readonly IsolatedKind[] {
  if (typeof isolate === "boolean") return isolate ? allKinds : [];
  const unknown = isolate.find((kind) => !allKinds.includes(kind));
  if (unknown === undefined) return isolate;
  throw new UserError(
    `The option isolate has "${unknown}", which is no kind of binding. The kinds are ` +
      `${allKinds.join(", ")}.`,
  );
}

const derivedFiles = new Set<{ remove(): void }>();
process.once("exit", () => derivedFiles.forEach((file) => file.remove()));

/**
 * The configuration file for the pool, which is removed when vitest or the process ends.
 *
 * @returns the path of the file
 */
function writeDerivedFile(config: ProjectConfig, atEnd: EndActions): string {
  const file = writeTemporaryConfig(config.folder, toWranglerTable(config, []));
  derivedFiles.add(file);
  atEnd.push(() => {
    file.remove();
    derivedFiles.delete(file);
  });
  return file.path;
}

function unsafeBinding(name: string, type: string, plugin: string, options: object) {
  return { name, type, plugin: { package: pluginPath, name: plugin }, options };
}

/** Adds the bindings of the configuration file, and the controls of the store and the DNS. */
function withBindings(
  config: ProjectConfig,
  { miniflare = {}, ...options }: PoolOptions,
  configPath: string | undefined,
  kinds: readonly StateKind[],
): PoolOptions {
  const bindings = [
    ...unsafeBindings(config).map(({ dev, ...binding }) => ({ ...binding, ...dev })),
    unsafeBinding(controlBinding, "store_control", "store", {
      project_folder: resolve(config.folder),
    }),
    unsafeBinding(dnsBinding, "dns", "dns", config.dns.table),
    ...(hasRuntimeSockets && kinds.length > 0
      ? [unsafeBinding(stateBinding, "state_files", "isolation", { kinds })]
      : []),
  ];
  const given = (miniflare["unsafeBindings"] ?? []) as unknown[];
  const { environment } = config;
  return {
    ...options,
    ...(configPath !== undefined && {
      wrangler: {
        ...options.wrangler,
        configPath,
        ...(environment !== undefined && { environment }),
      },
    }),
    miniflare: {
      ...miniflare,
      ...rpcFlag(config, miniflare),
      unsafeBindings: [...given, ...bindings],
    },
  };
}

/** Tests call the controls by RPC, which scripts with an old compatibility date do not have. */
function rpcFlag(
  { table }: ProjectConfig,
  miniflare: Record<string, unknown>,
): { compatibilityFlags?: string[] } {
  const date = (miniflare["compatibilityDate"] ?? table["compatibility_date"]) as
    | string
    | undefined;
  const own = (miniflare["compatibilityFlags"] ?? []) as string[];
  const flags = [...own, ...((table["compatibility_flags"] ?? []) as string[])];
  if (date === undefined || hasRpc(date, flags)) return {};
  return { compatibilityFlags: [...own, "rpc"] };
}

/**
 * Remote buckets in tests. The undo of writes is a matter of local buckets, so the tests of a run share what
 * they write. But each run has a prefix of its own in the service's bucket, behind the bucket's own prefix.
 * The prefix is removed at the end; a failure is a warning, because the tests have their results.
 */
function withRunPrefix(buckets: readonly BucketBinding[], atEnd: EndActions): BucketBinding[] {
  const name = `test-${randomBytes(6).toString("hex")}/`;
  /** Two bindings can name one bucket. */
  const used = new Set<string>();
  return buckets.map((bucket) => {
    if (bucket.remote === undefined) return bucket;
    const remote = { ...bucket.remote, prefix: bucket.remote.prefix + name };
    const place = remotePlace(remote, bucket.previewBucketName ?? bucket.bucketName);
    const text = `"${place.prefix}" in the bucket "${place.bucketName}" of the remote "${place.remote}" (${place.endpoint})`;
    if (!used.has(text)) {
      used.add(text);
      // Said at the start: a run that is killed leaves its objects.
      console.log(`Tests write to ${text}, and remove it at the end.`);
      atEnd.push(async () => {
        const { removePrefix } = await import("../../store/node/remote-buckets.ts");
        await removePrefix(place, remote.credentials).catch((error: Error) => {
          console.warn(`Cannot remove ${text}: ${error.message} Remove it yourself.`);
        });
      });
    }
    return { ...bucket, remote };
  });
}
