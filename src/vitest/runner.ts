/**
 * The runner of tests in the pool: vitest's own, and a layer of isolation around every file, block
 * and test (`vitest/task-layers.ts`).
 *
 * A hook of a setup file would not do: it sees tests, but not the blocks between them, and its
 * order among the hooks of the project is not its own to choose. A runner sees all of them begin
 * before any hook, and end after all.
 *
 * A call belongs to the test that made it, even when it arrives later: the test's function runs
 * in an async context that names its layer, and a request that a handler is busy with remembers in
 * which layer it first asked for a bucket. What arrives in a layer that has ended is not done.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import * as pool from "cloudflare:test-internal";
import { TestRunner } from "vitest";
import { optionsKey, type RunnerOptions } from "../testing/bindings.ts";
import { describeInjectedFault } from "../store/core/store-fault.ts";
import { poolState } from "../testing/pool-state.ts";
import { TaskLayers } from "./task-layers.ts";

type Test = Parameters<TestRunner["onBeforeRunTask"]>[0];
type Suite = Parameters<TestRunner["onBeforeRunSuite"]>[0];
type File = Parameters<TestRunner["onCollectStart"]>[0];

interface Try {
  readonly retry: number;
  readonly repeats: number;
}

export default class IsolatingRunner extends TestRunner {
  readonly #options: RunnerOptions;
  readonly #state = poolState();
  readonly #tasks: TaskLayers;
  /** The layer of the test in whose function we are */
  readonly #own = new AsyncLocalStorage<number | undefined>();
  /** The layer in which a request was made */
  readonly #requests = new WeakMap<object, number | undefined>();

  constructor(...args: ConstructorParameters<typeof TestRunner>) {
    super(...args);
    this.#options = this.injectValue(optionsKey);
    const { layers } = this.#state.store;
    this.#tasks = new TaskLayers({
      open: () => layers.open(),
      close: (layer) => layers.close(layer),
      replace: (layer) => layers.replace(layer),
    });
    this.#state.layerOfCall = () => this.#layerOfCall();
  }

  override async onCollectStart(file: File): Promise<void> {
    super.onCollectStart(file);
    // What a file does while it is loaded goes with it.
    await this.#begin(file);
  }

  override async onBeforeRunSuite(suite: Suite): Promise<void> {
    await super.onBeforeRunSuite(suite);
    if (suite.mode !== "skip" && suite.mode !== "todo") await this.#begin(suite);
  }

  override async onAfterRunSuite(suite: Suite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (this.#options.isolate) await this.#tasks.end(suite);
  }

  override async onBeforeRunTask(test: Test): Promise<void> {
    await super.onBeforeRunTask(test);
    if (test.mode !== "run" && test.mode !== "queued") return;
    await this.#begin(test);
  }

  /** In the async context of the test's layer. */
  async runTask(test: Test): Promise<void> {
    await this.#own.run(this.#tasks.current, () => TestRunner.getTestFn(test)());
  }

  async onAfterRetryTask(test: Test, { retry, repeats }: Try): Promise<void> {
    const failed = test.result?.state === "fail";
    if (failed) await this.#listInjections(test);
    const again = (failed && retry < retries(test)) || repeats < (test.repeats ?? 0);
    if (again && this.#options.isolate) await this.#tasks.again(test);
  }

  override async onAfterRunTask(test: Test): Promise<void> {
    super.onAfterRunTask(test);
    if (this.#options.isolate) await this.#tasks.end(test);
  }

  override async onAfterRunFiles(): Promise<void> {
    super.onAfterRunFiles();
    await this.#tasks.endAll();
    if (this.#options.reusesRuntime) await pool.reset();
  }

  async #begin(task: Test | Suite): Promise<void> {
    this.#state.store.forgetSnapshots();
    this.#state.calls.length = 0;
    if (this.#options.isolate) await this.#tasks.begin(task);
  }

  #layerOfCall(): number | undefined {
    const { current } = this.#tasks;
    const own = this.#own.getStore();
    if (own !== undefined) return own;
    const request = pool.handlerContextStore?.getStore();
    // A Durable Object's context is no request's: it lives on, and belongs to no test.
    if (request === undefined || "storage" in request) return current;
    if (!this.#requests.has(request)) this.#requests.set(request, current);
    return this.#requests.get(request);
  }

  /** A test that fails says which faults it had asked for. */
  async #listInjections(test: Test): Promise<void> {
    const injectedFaults = await this.#state.controls.store.injectedFaults();
    const [error] = test.result?.errors ?? [];
    if (injectedFaults.length === 0 || error === undefined) return;
    const lines = injectedFaults.map((injection) => `  ${describeInjectedFault(injection)}`);
    error.message += `\n\nFaults that were injected:\n${lines.join("\n")}`;
  }
}

function retries({ retry }: Test): number {
  return typeof retry === "number" ? retry : (retry?.count ?? 0);
}
