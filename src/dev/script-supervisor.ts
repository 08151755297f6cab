/**
 * Runs a script in wrangler's dev server, which bundles the script, reloads it when a source is
 * saved, and puts a proxy with a stable address before it.
 *
 *     proxy (a runtime) ──▶ script (a runtime, new with each reload) ──▶ its bindings
 *
 * The supervisor adds what wrangler lacks: a script that does not start is tried again when a
 * source is saved, and after a crash of either runtime both start again. Starts, updates and
 * restarts run one after the other.
 */
import type * as WranglerModule from "wrangler";
import { endedRuntimesOutput, watchCrashes } from "../base/child-processes.ts";
import { stopMilliseconds, within } from "../base/concurrency.ts";
import { loadWrangler } from "../base/runtime.ts";
import type { ScriptBinding } from "./binding-table.ts";
import { watchSourcesOnce } from "./file-watch.ts";
import type { ScriptConsole } from "./script-console.ts";

export type WorkerInput = Parameters<typeof WranglerModule.unstable_startWorker>[0];
type DevEnv = WranglerModule.unstable_DevEnv;
type ControllerEvent = Parameters<DevEnv["dispatch"]>[0];
type ErrorEvent = Extract<ControllerEvent, { type: "error" }>;

/** The time between the first and the last process that a terminal's interrupt reaches. */
const interruptMilliseconds = 100;
/** The output of a runtime that has ended arrives within this time, as a rule at once. */
const outputMilliseconds = 1000;

interface SupervisorOptions {
  readonly input: WorkerInput;
  /** The path of the script. */
  readonly script: string;
  readonly console: ScriptConsole;
  /** The script answers: after the start, a change, or a restart. */
  onReady(): void;
  /**
   * The script cannot be built or started. The next attempt follows a change of a source.
   *
   * @param problem `null` if wrangler has already printed the problem
   */
  onFailure(problem: string | null): void;
  onCrash(signal: string): void;
}

export class ScriptSupervisor {
  readonly #options: SupervisorOptions;
  #input: WorkerInput;
  #environment: DevEnv | null = null;
  #stopped = false;
  #changes: Promise<void> = Promise.resolve();
  #endWatch: () => void = () => {};
  readonly #started = new WeakSet<DevEnv>();
  readonly #failed = new WeakSet<DevEnv>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#input = options.input;
  }

  /** The bindings of the script, with variables from files; empty before the first start. */
  get bindings(): Readonly<Record<string, ScriptBinding>> {
    return (this.#environment?.config.latestConfig?.bindings ?? {}) as Record<
      string,
      ScriptBinding
    >;
  }

  /** @throws wrangler's error about the configuration */
  start(): Promise<void> {
    return this.#enqueue(() => this.#start());
  }

  /** Replaces the configuration. After an error, the old configuration stays in use. */
  update(input: WorkerInput): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#environment === null) {
        this.#input = input;
        this.#endWatch();
        return this.#start();
      }
      await this.#environment.config.set(input, true);
      this.#input = input;
    });
  }

  restart(): Promise<void> {
    return this.#enqueue(async () => {
      await this.#end();
      await this.#start();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await within(stopMilliseconds, this.#changes);
    await this.#end();
  }

  async #start(): Promise<void> {
    const { unstable_DevEnv: DevEnvironment } = loadWrangler();
    const environment = new DevEnvironment();
    this.#environment = environment;
    this.#endWatch = watchCrashes((signal) => {
      // An interrupt from the terminal can end the runtimes before it reaches this process.
      setTimeout(() => {
        if (environment !== this.#environment || this.#stopped) return;
        this.#options.onCrash(signal);
        this.#retry();
      }, interruptMilliseconds);
    });
    observe(environment, {
      accepts: (event) => this.#accepts(environment, event),
      afterwards: (event) => this.#onEvent(environment, event),
    });
    // The proxy would print its address before the script answers.
    environment.proxy.localServerReady = neverReady;
    try {
      await environment.startWorker(this.#input);
    } catch (error) {
      this.#environment = null;
      this.#endWatch();
      const root = rootOf(error as Error);
      if (!isBuildFailure(root)) throw root;
      this.#options.onFailure(root.message);
      this.#endWatch = watchSourcesOnce(this.#options.script, () => this.#retry());
    }
  }

  async #end(): Promise<void> {
    const environment = this.#environment;
    this.#environment = null;
    this.#endWatch();
    if (environment === null) return;
    // wrangler can stop a proxy only after its start, and a proxy that failed never starts.
    await within(stopMilliseconds, environment.proxy.ready.promise);
    await within(stopMilliseconds, environment.teardown());
  }

  #retry(): void {
    void this.restart().catch((error: Error) => this.#options.onFailure(error.message));
  }

  #enqueue(act: () => Promise<void>): Promise<void> {
    const change = this.#changes.then(() => (this.#stopped ? undefined : act()));
    this.#changes = change.catch(() => {});
    return change;
  }

  /** Whether wrangler handles the event. */
  #accepts(environment: DevEnv, event: ControllerEvent): boolean {
    if (environment !== this.#environment) return true;
    if (event.type === "bundleComplete") this.#options.console.useBundle(event.bundle);
    if (event.type !== "bundleStart") return true;
    // wrangler does not restart a runtime whose first start failed.
    if (!this.#failed.has(environment) || this.#started.has(environment)) return true;
    this.#retry();
    return false;
  }

  /** Called when wrangler has handled the event, and has printed what it prints of it. */
  #onEvent(environment: DevEnv, event: ControllerEvent): void {
    if (environment !== this.#environment) return;
    if (event.type === "reloadComplete") {
      this.#started.add(environment);
      // The proxy passes requests on after a message that wrangler sends after this event.
      setImmediate(() => void this.#reportReady(environment));
    }
    if (event.type === "error" && !isRetried(event)) {
      if (event.source === "LocalRuntimeController") this.#failed.add(environment);
      // wrangler prints the errors of its bundler.
      const isPrinted = event.source === "BundlerController";
      void this.#reportFailure(isPrinted ? null : problemOf(event, environment));
    }
  }

  /** What a runtime writes before its end can come later than the event of its end. */
  async #reportFailure(problem: string | null): Promise<void> {
    await within(outputMilliseconds, endedRuntimesOutput());
    this.#options.onFailure(problem);
  }

  async #reportReady(environment: DevEnv): Promise<void> {
    await environment.proxy.ready.promise;
    await environment.proxy.runtimeMessageMutex.drained();
    if (environment === this.#environment) this.#options.onReady();
  }
}

interface EventObserver {
  /** Whether wrangler handles the event. */
  accepts(event: ControllerEvent): boolean;
  afterwards(event: ControllerEvent): void;
}

function observe(environment: DevEnv, observer: EventObserver): void {
  const dispatch = environment.dispatch.bind(environment);
  environment.dispatch = (event) => {
    if (!observer.accepts(event)) return;
    dispatch(event);
    observer.afterwards(event);
  };
  // Without a listener, an error event ends the process.
  environment.on("error", () => {});
}

/** wrangler sends messages to its proxy and its inspector again when they fail. */
function isRetried({ source, reason }: ErrorEvent): boolean {
  return (
    source === "ProxyController" &&
    /^(Failed to send message to|Could not connect to Inspector)/.test(reason)
  );
}

function problemOf({ reason, cause }: ErrorEvent, { config }: DevEnv): string {
  const text = cause.message;
  if (!text.includes("runtime failed to start")) return text === "" ? reason : text;
  // The runtime has printed the cause.
  return config.latestConfig?.build.format === "service-worker"
    ? "The script could not be started: it has no `export default`, and buckets need one."
    : "The script could not be started.";
}

/** wrangler analyses the script once before it starts its bundler; this is an error of that step. */
function isBuildFailure(error: Error): boolean {
  return "errors" in error && Array.isArray(error.errors);
}

/** wrangler wraps errors in errors that name the part that failed. */
function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}

const neverReady = { promise: new Promise<void>(() => {}), resolve() {}, reject() {} };
