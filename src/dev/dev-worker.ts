/**
 * The script in wrangler's dev server: bundled, reloaded when a source is saved, and behind a
 * proxy whose address stays while runtimes come and go.
 *
 *     proxy (a runtime) ──▶ script (a runtime, new with each reload) ──▶ its bindings
 *
 * wrangler gives up where a dev server should not, and this does not: a script that cannot be
 * started is tried again when it is saved, and after a crash of either runtime both start anew.
 * Changes of state happen one after the other, whoever asks for them.
 */
import type * as WranglerModule from "wrangler";
import { watchCrashes } from "../base/child-processes.ts";
import type { ScriptConsole } from "./script-console.ts";
import { onceSourcesChange } from "./source-watch.ts";
import { stopMilliseconds, within } from "../base/concurrency.ts";

export type WorkerInput = Parameters<typeof WranglerModule.unstable_startWorker>[0];
type Wrangler = Pick<typeof WranglerModule, "unstable_DevEnv">;
type DevEnv = WranglerModule.unstable_DevEnv;
type ControllerEvent = Parameters<DevEnv["dispatch"]>[0];

export interface DevWorkerListener {
  /** The script answers: for the first time, after a change, or again. */
  onReady(): void;
  /** The script cannot be built or started; it is tried again when a source changes. */
  onFailure(problem: string | null): void;
  onCrash(signal: string): void;
}

export class DevWorker {
  readonly #wrangler: Wrangler;
  readonly #console: ScriptConsole;
  readonly #listener: DevWorkerListener;
  readonly #script: string;
  #input: WorkerInput;
  #environment: DevEnv | null = null;
  #stopped = false;
  #changes: Promise<void> = Promise.resolve();
  #endWatch: () => void = () => {};

  constructor(options: {
    wrangler: Wrangler;
    input: WorkerInput;
    /** Its path. */
    script: string;
    console: ScriptConsole;
    listener: DevWorkerListener;
  }) {
    this.#wrangler = options.wrangler;
    this.#input = options.input;
    this.#script = options.script;
    this.#console = options.console;
    this.#listener = options.listener;
  }

  /** @throws what is wrong with the configuration, in wrangler's words */
  start(): Promise<void> {
    return this.#change(() => this.#start());
  }

  /** Goes on with another configuration, or throws and goes on with the one it has. */
  update(input: WorkerInput): Promise<void> {
    return this.#change(async () => {
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
    return this.#change(async () => {
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
    const environment = new this.#wrangler.unstable_DevEnv();
    this.#environment = environment;
    this.#endWatch = watchCrashes((signal) => {
      // A terminal's interrupt reaches runtimes as well, and may reach them first.
      setTimeout(() => {
        if (environment === this.#environment && !this.#stopped) this.#onCrash(signal);
      }, interruptMilliseconds);
    });
    observe(environment, (event) => this.#onEvent(environment, event));
    // The dev server says so itself, when it is true.
    environment.proxy.localServerReady = silence;
    try {
      await environment.startWorker(this.#input);
    } catch (error) {
      this.#environment = null;
      this.#endWatch();
      const root = rootOf(error as Error);
      if (!isBuildFailure(root)) throw root;
      this.#listener.onFailure(root.message);
      this.#endWatch = onceSourcesChange(this.#script, () => this.#again());
    }
  }

  async #end(): Promise<void> {
    const environment = this.#environment;
    this.#environment = null;
    this.#endWatch();
    if (environment === null) return;
    // A proxy that is still on its way can only be taken down when it is there, and one that
    // failed never will be.
    await within(stopMilliseconds, environment.proxy.ready.promise);
    await within(stopMilliseconds, environment.teardown());
  }

  #onCrash(signal: string): void {
    this.#listener.onCrash(signal);
    this.#again();
  }

  #again(): void {
    void this.restart().catch((error: Error) => this.#listener.onFailure(error.message));
  }

  #change(act: () => Promise<void>): Promise<void> {
    const change = this.#changes.then(() => (this.#stopped ? undefined : act()));
    this.#changes = change.catch(() => {});
    return change;
  }

  #everReady = new WeakSet<DevEnv>();
  #failed = new WeakSet<DevEnv>();

  /** @returns whether wrangler is to see the event */
  #onEvent(environment: DevEnv, event: ControllerEvent): boolean {
    if (environment !== this.#environment) return true;
    if (event.type === "bundleStart") {
      // A runtime that has never started is never started again.
      if (!this.#failed.has(environment) || this.#everReady.has(environment)) return true;
      this.#again();
      return false;
    }
    if (event.type === "bundleComplete") this.#console.follow(event.bundle);
    if (event.type === "reloadComplete") {
      this.#everReady.add(environment);
      // Requests are let through by a message to the proxy that is sent after this event.
      setImmediate(() => void this.#whenAnswering(environment));
    }
    if (event.type === "error" && !isUnimportant(event)) {
      if (event.source === "LocalRuntimeController") this.#failed.add(environment);
      // What is wrong with sources wrangler says itself.
      const isSaid = event.source === "BundlerController";
      this.#listener.onFailure(isSaid ? null : problemOf(event, environment));
    }
    return true;
  }

  async #whenAnswering(environment: DevEnv): Promise<void> {
    await environment.proxy.ready.promise;
    await environment.proxy.runtimeMessageMutex.drained();
    if (environment === this.#environment) this.#listener.onReady();
  }
}

/** Looks at each event of the dev server before its parts do. */
function observe(environment: DevEnv, look: (event: ControllerEvent) => boolean): void {
  const dispatch = environment.dispatch.bind(environment);
  environment.dispatch = (event) => {
    if (look(event)) dispatch(event);
  };
  // Without a listener an error would end the process.
  environment.on("error", () => {});
}

type ErrorEvent = Extract<ControllerEvent, { type: "error" }>;

/** Of messages between the parts, which are sent again. */
function isUnimportant({ source, reason }: ErrorEvent): boolean {
  return (
    source === "ProxyController" &&
    /^(Failed to send message to|Could not connect to Inspector)/.test(reason)
  );
}

function problemOf({ reason, cause }: ErrorEvent, { config }: DevEnv): string {
  const text = cause.message;
  if (!text.includes("runtime failed to start")) return text === "" ? reason : text;
  // The runtime's own words have been on the console.
  return config.latestConfig?.build.format === "service-worker"
    ? "The script could not be started: it has no `export default`, and buckets need one."
    : "The script could not be started.";
}

/** wrangler looks into the script before it starts its bundler, and can look only once. */
function isBuildFailure(error: Error): boolean {
  return "errors" in error && Array.isArray(error.errors);
}

/** wrangler wraps what went wrong into where it went wrong. */
function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}

/** How long a signal to all processes takes from the first to the last. */
const interruptMilliseconds = 100;

const silence = { promise: new Promise<void>(() => {}), resolve() {}, reject() {} };
