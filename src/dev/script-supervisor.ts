/**
 * Runs a script in wrangler's dev server, which bundles the script, reloads it when a source is
 * saved, and puts a proxy with a stable address before it.
 *
 *     proxy (a runtime) ──▶ script (a runtime, new with each reload) ──▶ its bindings
 *
 * The supervisor adds what wrangler lacks: a script that does not start is tried again when a
 * source is saved, and after a crash of either runtime, or of the bundler, all start again. Starts,
 * updates and restarts run one after the other.
 */
import { existsSync, readFileSync, watch } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { stopMilliseconds, within } from "../base/concurrency.ts";
import { failedUrl, watchFailedUrls } from "../base/miniflare.ts";
import { endedRuntimesOutput, watchCrashes } from "../base/programs.ts";
import {
  watchBundler,
  WranglerDevServer,
  type WorkerInput,
  type WranglerErrorEvent,
  type WranglerEvent,
  type WranglerReloadEvent,
} from "../base/wrangler.ts";
import type { ScriptConsole } from "./script-console.ts";
import type { RunningScript } from "./summary.ts";

/** The time between the first and the last process that a terminal's interrupt reaches. */
const interruptMilliseconds = 100;
/** A script that ends the bundler with each build is not tried at once again. */
const bundlerPauseMilliseconds = 1000;
/** The output of a runtime that has ended arrives within this time, as a rule at once. */
const outputMilliseconds = 1000;

interface SupervisorOptions {
  /** Of the script that has the address, then of scripts beside it. */
  readonly inputs: readonly WorkerInput[];
  /** The paths of the scripts. */
  readonly paths: readonly string[];
  readonly console: ScriptConsole;
  /** The script answers: after the start, a change, or a restart. */
  onReady(): void;
  /**
   * The script cannot be built or started. The next attempt follows a change of a source.
   *
   * @param problem `null` if wrangler has already printed the problem
   */
  onFailure(problem: string | null): void;
  /** The runtime answers. What this changes in the event counts for wrangler's proxy. */
  onReload(event: WranglerReloadEvent): void;
  /** Another dev server has started or stopped a script that a binding names. */
  onConnection(): void;
  /** @param cause the signal that has ended the program, as a rule */
  onCrash(cause: string, program: "runtime" | "bundler"): void;
}

export class ScriptSupervisor {
  readonly #options: SupervisorOptions;
  #inputs: readonly WorkerInput[];
  #environment: WranglerDevServer | null = null;
  #stopped = false;
  #changes: Promise<void> = Promise.resolve();
  #settling = Promise.withResolvers<void>();
  #endWatch: () => void = () => {};
  readonly #endBundlerWatch: () => void;
  /** Whether the runtime of the environment has started, and whether a start has failed. */
  #hasStarted = false;
  #hasFailed = false;
  /** Whether the first start of the runtime has begun, and whether a source has changed since. */
  #hasBegun = false;
  #isOutdated = false;
  /** Whether the bundler has ended since the last start. */
  #isBundlerLost = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#inputs = options.inputs;
    watchFailedUrls();
    this.#endBundlerWatch = watchBundler((cause) => {
      this.#isBundlerLost = true;
      const pause = this.#hasStarted ? interruptMilliseconds : bundlerPauseMilliseconds;
      setTimeout(() => {
        if (this.#stopped) return;
        this.#options.onCrash(cause, "bundler");
        this.#retry();
      }, pause);
    });
  }

  /** Each script with its bindings and with variables from files; none before the first start. */
  get scripts(): readonly RunningScript[] {
    return (this.#environment?.scripts ?? []) as RunningScript[];
  }

  /** The names of the scripts that dev servers of this machine run, these scripts included. */
  get runningScripts(): ReadonlySet<string> {
    return this.#environment?.runningScripts ?? new Set();
  }

  /** @throws wrangler's error about the configuration */
  start(): Promise<void> {
    return this.#enqueue(() => this.#start());
  }

  /** Replaces the configuration. After an error, the old configuration stays in use. */
  update(inputs: readonly WorkerInput[]): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#environment === null) {
        this.#inputs = inputs;
        this.#endWatch();
        return this.#start();
      }
      const isUpdated = await this.#environment.update(inputs);
      this.#inputs = inputs;
      if (isUpdated) return;
      await this.#end();
      await this.#start();
    });
  }

  /** @param act is done while no runtime of the script runs */
  restart(act?: () => Promise<void>): Promise<void> {
    return this.#enqueue(async () => {
      await this.#end();
      try {
        await act?.();
      } finally {
        await this.#start();
      }
    });
  }

  /** Resolves when the script answers, or has failed to start, since its last start. */
  async settled(): Promise<void> {
    await this.#changes;
    await this.#settling.promise;
  }

  /** From now on the end of a runtime is no crash, and nothing starts again. */
  expectStop(): void {
    this.#stopped = true;
    this.#settling.resolve();
  }

  async stop(): Promise<void> {
    this.expectStop();
    this.#endBundlerWatch();
    await within(stopMilliseconds, this.#changes);
    await this.#end();
  }

  async #start(): Promise<void> {
    const observer = {
      accepts: (event: WranglerEvent): boolean => this.#accepts(environment, event),
      afterwards: (event: WranglerEvent): void => this.#onEvent(environment, event),
    };
    const environment: WranglerDevServer = new WranglerDevServer(observer, this.#inputs.length);
    this.#environment = environment;
    // Who waits for an earlier start waits for this one, too.
    const { resolve } = this.#settling;
    this.#settling = Promise.withResolvers();
    void this.#settling.promise.then(resolve);
    this.#hasStarted = false;
    this.#hasFailed = false;
    this.#hasBegun = false;
    this.#isOutdated = false;
    this.#isBundlerLost = false;
    this.#endWatch = watchCrashes((signal, tell) => {
      // An interrupt from the terminal can end the runtimes before it reaches this process.
      setTimeout(() => {
        if (this.#stopped) return;
        tell();
        if (environment !== this.#environment) return;
        this.#options.onCrash(signal, "runtime");
        this.#retry();
      }, interruptMilliseconds);
    });
    try {
      await environment.start(this.#inputs);
    } catch (error) {
      this.#environment = null;
      this.#endWatch();
      if (this.#isBundlerLost) return;
      const root = rootOf(error as Error);
      if (!isBuildFailure(root)) throw root;
      this.#fail(root.message);
      this.#endWatch = watchSourcesOnce(this.#options.paths, () => this.#retry());
    }
  }

  async #end(): Promise<void> {
    const environment = this.#environment;
    this.#environment = null;
    this.#endWatch();
    if (environment === null) return;
    // wrangler can stop a proxy only after its start, and a proxy that failed never starts.
    await within(stopMilliseconds, environment.proxyStarted());
    await within(stopMilliseconds, environment.stop());
  }

  #retry(): void {
    void this.restart().catch((error: Error) => this.#fail(error.message));
  }

  #fail(problem: string | null): void {
    this.#settling.resolve();
    this.#options.onFailure(problem);
  }

  #enqueue(act: () => Promise<void>): Promise<void> {
    const change = this.#changes.then(() => (this.#stopped ? undefined : act()));
    this.#changes = change.catch(() => {});
    return change;
  }

  #accepts(environment: WranglerDevServer, event: WranglerEvent): boolean {
    if (environment !== this.#environment) return true;
    if (event.type === "reloadComplete") this.#options.onReload(event);
    if (event.type === "bundleComplete") this.#options.console.useBundle(event.bundle);
    // The inspector reports exceptions after the response, which are in the trace.
    if (event.type === "runtimeError" && isRuntime(event.source)) {
      this.#options.console.addException({ ...event, url: failedUrl() });
    }
    if (event.type === "reloadStart") this.#hasBegun = true;
    if (event.type !== "bundleStart" || this.#hasStarted) return true;
    this.#isOutdated = this.#hasBegun;
    // wrangler does not restart a runtime whose first start failed.
    if (!this.#hasFailed) return true;
    this.#retry();
    return false;
  }

  /** Called when wrangler has handled the event, and has printed what it prints of it. */
  #onEvent(environment: WranglerDevServer, event: WranglerEvent): void {
    if (environment !== this.#environment) return;
    if (event.type === "reloadComplete") {
      this.#hasStarted = true;
      // The proxy passes requests on after a message that wrangler sends after this event.
      setImmediate(() => {
        void environment.proxyInformed().then(() => {
          if (environment !== this.#environment) return;
          this.#settling.resolve();
          this.#options.onReady();
        });
      });
    }
    if (event.type === "devRegistryUpdate") this.#options.onConnection();
    if (event.type === "error" && !isPassing(event)) {
      if (isRuntime(event.source)) {
        this.#hasFailed = true;
        // The change may mend what has failed.
        if (this.#isOutdated && !this.#hasStarted) return this.#retry();
      }
      // wrangler prints the errors of its bundler.
      const isPrinted = event.source === "BundlerController";
      const problem = isPrinted ? null : problemOf(event, environment);
      // What a runtime writes before its end can come later than the event of its end.
      void within(outputMilliseconds, endedRuntimesOutput()).then(() => this.#fail(problem));
    }
  }
}

/** wrangler has a controller for one script, and another for several. */
function isRuntime(source: string): boolean {
  return source === "LocalRuntimeController" || source === "MultiworkerRuntimeController";
}

/**
 * Whether the script runs on. wrangler sends messages to its proxy and its inspector again when they
 * fail; an error inside the proxy concerns one request, which gets an answer with the error.
 */
function isPassing({ source, reason }: WranglerErrorEvent): boolean {
  return (
    source === "ProxyController" &&
    /^(Failed to send message to|Could not connect to Inspector|Error inside ProxyWorker)/.test(
      reason,
    )
  );
}

function problemOf({ reason, cause }: WranglerErrorEvent, environment: WranglerDevServer): string {
  const text = cause.message;
  if (!text.includes("runtime failed to start")) return text === "" ? reason : text;
  // The runtime has printed the cause.
  return environment.isServiceWorker
    ? "The script could not be started: it has no `export default`, and buckets need one."
    : "The script could not be started.";
}

/**
 * wrangler analyses the script once before it starts its bundler; this is an error of that step. Later,
 * the bundler itself waits for a change.
 */
function isBuildFailure(error: Error): boolean {
  return "errors" in error && Array.isArray(error.errors);
}

/** wrangler wraps errors in errors that name the part that failed. */
function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}

/** Editors write a file more than once for a save. */
const settleMilliseconds = 50;

/**
 * Calls `onChange` when the content of the configuration file at `path` changes, or of the secrets
 * beside it.
 *
 * The folder is watched and not the files, because editors save by replacing the old file with a
 * new file.
 *
 * @returns a function that ends the watch
 */
export function watchConfig(path: string, onChange: () => void): () => void {
  const folder = dirname(path);
  const isWatched = (name: string): boolean =>
    name === basename(path) || /^\.(?:dev\.vars|env)(?:\.|$)/.test(name);
  const contents = new Map<string, string>();
  const hasChanged = (name: string): boolean => {
    const content = readIfPresent(join(folder, name));
    // A file that is missing for a moment is being replaced.
    if (content === null || contents.get(name) === content) return false;
    contents.set(name, content);
    return true;
  };
  hasChanged(basename(path));

  let timer: NodeJS.Timeout | undefined;
  const touched = new Set<string>();
  const watcher = watch(folder, (_, name) => {
    if (name === null || !isWatched(name)) return;
    touched.add(name);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const changed = Array.from(touched, hasChanged).includes(true);
      touched.clear();
      if (changed) onChange();
    }, settleMilliseconds);
  });
  // The watch ends when the folder is removed; the dev server continues.
  watcher.on("error", () => {});
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

/**
 * Calls `onChange` once, when a source in the folder of a script or below changes.
 *
 * @returns a function that ends the watch
 */
function watchSourcesOnce(scripts: readonly string[], onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watchers = Array.from(new Set(scripts.map(dirname)), (folder) => {
    // A folder with packages has too many files to watch.
    const recursive = !existsSync(join(folder, "node_modules"));
    const watcher = watch(folder, { recursive }, (_, path) => {
      if (path === null || !isSource(path)) return;
      timer ??= setTimeout(() => {
        end();
        onChange();
      }, settleMilliseconds);
    });
    return watcher.on("error", () => {});
  });
  const end = (): void => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
  return end;
}

/**
 * Whether a change of the file can mend the script. Logs and databases change all the time, and each
 * attempt writes to `.wrangler`.
 *
 * @param path relative to the folder of the script
 */
export function isSource(path: string): boolean {
  const isApart = path.split(sep).some((name) => name === "node_modules" || name.startsWith("."));
  return !isApart && /\.(?:[cm]?[jt]sx?|jsonc?|py)$/.test(path);
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
