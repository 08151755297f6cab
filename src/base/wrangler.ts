/**
 * wrangler: which copy Ledge uses, and everything that Ledge uses of its internals.
 *
 * The names with `unstable_` and `experimental_` and the parts of the dev server are not promised by
 * wrangler. A part without which Ledge can do the work has a fallback here. The lack of another part
 * is an error that names the version that Ledge was tested with.
 */
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type * as Miniflare from "miniflare";
import type * as Wrangler from "wrangler";
import { endProgramsWithThisProcess, isBundler, watchChildren } from "./programs.ts";
import { loadWithBytecode } from "./loading.ts";
import { checkVersion, packageOfModule, requireParts } from "./package-version.ts";
import { testedVersions } from "./tested-versions.ts";
import { UserError } from "./user-error.ts";
import { guardProxy, type ProxyController } from "./wrangler-proxy.ts";

const require = createRequire(import.meta.url);

/** The exports of wrangler that Ledge uses. */
type UsedExports = Pick<
  typeof Wrangler,
  | "createTestHarness"
  | "experimental_generateTypes"
  | "getPlatformProxy"
  | "unstable_DevEnv"
  | "unstable_readConfig"
>;

let loaded: UsedExports | undefined;

/**
 * wrangler is a CommonJS file of several megabytes. Before Node imports such a file from a module,
 * Node reads the whole file for the names of its exports, which takes 140 ms. `require()` returns
 * the same module without that delay.
 *
 * @throws UserError when wrangler is missing or too old, or cannot write to its folder
 */
export function loadWrangler(): UsedExports {
  if (loaded !== undefined) return loaded;
  const { file, version } = findWrangler();
  endProgramsWithThisProcess();
  const requireOfWrangler = createRequire(file);
  loadWithBytecode(requireOfWrangler.resolve("miniflare"));
  requireHome();
  loadWithBytecode(file);
  followBundler(requireOfWrangler("esbuild") as { stop(): unknown });
  return (loaded = requireParts(require(file) as UsedExports, `wrangler ${version}`));
}

/**
 * wrangler keeps its logs and the addresses of dev servers in a folder below the home folder. Without
 * the folder, wrangler fails with a stack, or prints an error and waits.
 */
function requireHome(): void {
  let folder = "its folder";
  try {
    // Node knows no home folder if HOME is not set, and the user is not in /etc/passwd.
    folder = wranglerFolder();
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UserError(
      `wrangler cannot write to ${folder}, where it keeps its logs: ${(error as Error).message}. Set ` +
        "HOME to a folder that this user may write to.",
      { cause: error },
    );
  }
}

/**
 * The folder in which wrangler's dev servers of this machine find each other's scripts.
 *
 * wrangler does not export the path, and `getDefaultDevRegistryPath()` of Miniflare is another folder
 * since wrangler 4.160. There wrangler applies `CLOUDFLARE_DEV_REGISTRY_PATH` to what it is given.
 */
export function devRegistryPath(): string {
  const given = process.env["WRANGLER_REGISTRY_PATH"];
  // As in wrangler, an empty text means no registry.
  if (given === "") return given;
  return resolve(given ?? join(wranglerFolder(), "registry"));
}

function wranglerFolder(): string {
  const home = homedir();
  const former = join(home, ".wrangler");
  if (statSync(former, { throwIfNoEntry: false })?.isDirectory() === true) return former;
  const { XDG_CONFIG_HOME: given, APPDATA: roaming } = process.env;
  const defaults: Partial<Record<NodeJS.Platform, string>> = {
    darwin: join(home, "Library/Preferences"),
    win32: join(roaming || join(home, "AppData/Roaming"), "xdg.config"),
  };
  return join(given || (defaults[process.platform] ?? join(home, ".config")), ".wrangler");
}

const bundlerWatchers = new Set<(cause: string) => void>();

/**
 * Calls `onEnd` when the bundler has ended although nothing has stopped it. It is one process for all
 * dev servers of this process. Without it wrangler builds nothing more, and does not say so. The next
 * build of a new dev server starts the bundler again.
 *
 * @returns a function that ends the watch
 */
export function watchBundler(onEnd: (cause: string) => void): () => void {
  bundlerWatchers.add(onEnd);
  return () => void bundlerWatchers.delete(onEnd);
}

function followBundler(esbuild: { stop(): unknown }): void {
  watchChildren((child) => {
    child.once("exit", (code, signal) => {
      if (!isBundler(child.spawnargs) || child.killed) return;
      // esbuild forgets the process: otherwise each later build would fail.
      esbuild.stop();
      for (const onEnd of bundlerWatchers) onEnd(signal ?? `Exit code ${code}`);
    });
  });
}

type WranglersMiniflare = Partial<typeof Miniflare> & Pick<typeof Miniflare, "Miniflare">;

function wranglersMiniflare(): WranglersMiniflare {
  return createRequire(findWrangler().file)("miniflare") as WranglersMiniflare;
}

export function wranglerProgram(): string {
  return join(findWrangler().folder, "bin/wrangler.js");
}

function findWrangler(): {
  readonly file: string;
  readonly version: string;
  readonly folder: string;
} {
  let file: string;
  try {
    file = require.resolve("wrangler");
  } catch (error) {
    throw new UserError("Ledge found no wrangler. Install it: npm install --save-dev wrangler", {
      cause: error,
    });
  }
  const { version = "", folder = file } = packageOfModule(file) ?? {};
  checkVersion("wrangler", version, folder);
  return { file, version, folder };
}

export type WorkerInput = Parameters<typeof Wrangler.unstable_startWorker>[0];
export type WranglerConfig = Wrangler.Unstable_Config;
export type WranglerEvent = Parameters<Wrangler.unstable_DevEnv["dispatch"]>[0];
export type WranglerReloadEvent = Extract<WranglerEvent, { type: "reloadComplete" }>;
export type WranglerErrorEvent = Extract<WranglerEvent, { type: "error" }>;

interface Deferred {
  promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/** The parts of wrangler's dev server that a later version may lack. */
interface DevServerParts {
  readonly proxy: ProxyController & {
    localServerReady?: Deferred;
    readonly ready?: { readonly promise: Promise<unknown> };
    readonly runtimeMessageMutex?: { drained?(): Promise<void> };
  };
  readonly config?: {
    set?(input: WorkerInput, throwErrors: boolean): Promise<unknown>;
    readonly latestConfig?: {
      readonly name?: string;
      readonly build?: { readonly format?: string };
      readonly bindings?: Readonly<Record<string, unknown>>;
      readonly dev?: { readonly registry?: string };
    };
  };
}

interface EventObserver {
  accepts(event: WranglerEvent): boolean;
  afterwards(event: WranglerEvent): void;
}

/** wrangler's dev server for one script, or for several scripts in one runtime. The first has the address. */
export class WranglerDevServer {
  readonly #servers: readonly [Wrangler.unstable_DevEnv, ...Wrangler.unstable_DevEnv[]];

  constructor(observer: EventObserver, scriptCount: number) {
    this.#servers = scriptCount === 1 ? [makeServer()] : makeServers(scriptCount);
    for (const server of this.#servers) {
      const dispatch = requireParts(server, "wrangler's dev server").dispatch.bind(server);
      const isOfReplacedBuild = followReplacedBuilds();
      server.dispatch = (event) => {
        if (isOfReplacedBuild(event) || !observer.accepts(event)) return;
        dispatch(event);
        observer.afterwards(event);
      };
      // Without a listener, an error event ends the process.
      server.on("error", () => {});
    }
    const { proxy } = requireParts(this.#parts, "wrangler's dev server");
    guardProxy(proxy, wranglersMiniflare());
    // The proxy would print its address before the script answers.
    proxy.localServerReady = neverReady;
  }

  /** @param inputs of the first script, then of the others */
  async start([first, ...others]: readonly WorkerInput[]): Promise<void> {
    await this.#servers[0].startWorker(first as WorkerInput);
    await Promise.all(
      others.map(async (input, index) => this.#servers[index + 1]?.config.set(input, true)),
    );
  }

  /** @returns `false` when this version of wrangler needs a new start for that */
  async update(inputs: readonly WorkerInput[]): Promise<boolean> {
    if (this.#parts.config?.set === undefined) return false;
    for (const [index, input] of inputs.entries()) {
      await this.#servers[index]?.config.set(input, true);
    }
    return true;
  }

  /** Each script with its bindings and with variables from files; none before the first start. */
  get scripts(): { readonly name: string; readonly bindings: Readonly<Record<string, unknown>> }[] {
    return this.#servers.flatMap((server: DevServerParts) => {
      const { name = "", bindings } = server.config?.latestConfig ?? {};
      return bindings === undefined ? [] : { name, bindings };
    });
  }

  /** The names of the scripts that dev servers of this machine run, these scripts included. */
  get runningScripts(): ReadonlySet<string> {
    const registry = this.#parts.config?.latestConfig?.dev?.registry;
    const { getWorkerRegistry } = wranglersMiniflare();
    const others = registry ? getWorkerRegistry?.(registry) : undefined;
    return new Set([...this.scripts.map(({ name }) => name), ...Object.keys(others ?? {})]);
  }

  get isServiceWorker(): boolean {
    return this.#parts.config?.latestConfig?.build?.format === "service-worker";
  }

  /** Resolves when the proxy before the script has started. */
  async proxyStarted(): Promise<void> {
    await this.#parts.proxy.ready?.promise;
  }

  /** Resolves when the proxy has received all messages, also the message about a reload. */
  async proxyInformed(): Promise<void> {
    await this.proxyStarted();
    await this.#parts.proxy.runtimeMessageMutex?.drained?.();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.teardown()));
  }

  /** The parts of the first server. */
  get #parts(): DevServerParts {
    return this.#servers[0];
  }
}

/**
 * With a new configuration, wrangler removes the folder of the build before it ends the bundler's watch of this
 * folder. Then the old build fails at times ("Could not resolve …/middleware-loader.entry.ts"), although the
 * build with the new configuration has begun.
 *
 * @returns whether an event is such a failure, for all events in their order
 */
export function followReplacedBuilds(): (event: WranglerEvent) => boolean {
  /** The new configuration until its build begins. */
  let awaited: unknown = null;
  return (event) => {
    if (event.type === "configUpdate") awaited = event.config;
    if (event.type === "bundleStart" && event.config === awaited) awaited = null;
    if (event.type !== "error" || awaited === null) return false;
    return event.source === "BundlerController" && event.reason === "Failed to rebuild the Worker";
  };
}

type ServerOptions = NonNullable<ConstructorParameters<typeof Wrangler.unstable_DevEnv>[0]>;

function makeServer(options?: ServerOptions): Wrangler.unstable_DevEnv {
  const { unstable_DevEnv: DevEnvironment } = loadWrangler();
  return new DevEnvironment(options);
}

/** The servers of several scripts, as `wrangler dev` makes them for several files. */
function makeServers(
  scriptCount: number,
): [Wrangler.unstable_DevEnv, ...Wrangler.unstable_DevEnv[]] {
  const { runtimeFactories, proxyFactory } = sharedRuntime(scriptCount);
  const first = makeServer({ runtimeFactories });
  const others = Array.from({ length: scriptCount - 1 }, () =>
    makeServer({ runtimeFactories: first.runtimes.map((runtime) => () => runtime), proxyFactory }),
  );
  return [first, ...others];
}

/**
 * What a dev server needs so that its script shares a runtime with others. wrangler does not export it. The
 * test harness of wrangler gives it to the constructor of dev servers, which is exported: so this function
 * lets the harness call another constructor, which keeps what it gets. The harness calls the constructor
 * before it waits for anything, so no other code sees the replacement.
 */
function sharedRuntime(
  scriptCount: number,
): Required<Pick<ServerOptions, "runtimeFactories" | "proxyFactory">> {
  const wrangler = loadWrangler();
  const { unstable_DevEnv: original } = wrangler;
  const given: ServerOptions[] = [];
  class Observed {
    readonly runtimes = [];
    constructor(options: ServerOptions) {
      given.push(options);
      if (options.proxyFactory !== undefined) throw new Error("All options are known.");
    }
  }
  wrangler.unstable_DevEnv = Observed as unknown as typeof original;
  try {
    const workers = Array.from({ length: scriptCount }, () => ({ configPath: "wrangler.json" }));
    void wrangler
      .createTestHarness({ workers })
      .listen()
      .catch(() => {});
  } finally {
    wrangler.unstable_DevEnv = original;
  }
  const [{ runtimeFactories } = {}, { proxyFactory } = {}] = given;
  if (runtimeFactories !== undefined && proxyFactory !== undefined) {
    return { runtimeFactories, proxyFactory };
  }
  throw new UserError(
    "With this version of wrangler, Ledge cannot run several scripts in one dev server. Run a dev server for " +
      `each script: service bindings find them. Or install wrangler@${testedVersions.wrangler[1]}.`,
  );
}

const neverReady: Deferred = { promise: new Promise<void>(() => {}), resolve() {}, reject() {} };
