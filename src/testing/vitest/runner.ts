/**
 * The test runner of the pool: vitest's runner, with an isolation layer
 * (`testing/isolation-layers.ts`) for every file, suite and test.
 *
 *     a task begins ─▶ TaskLayers.begin ─▶ IsolationLayers.open
 *     a task ends   ─▶ TaskLayers.end   ─▶ IsolationLayers.close: its writes are undone
 *
 * The runner adds two hooks that are outside of all other hooks: `aroundAll` of each suite, and
 * `aroundEach` of each file. Hooks of a setup file could not do this: they run in no defined order with the
 * hooks of the project.
 *
 * A call belongs to the test, the attempt of a test, or the suite that made it, even if it arrives later. The
 * functions and the hooks of these run in an async context that names their layer, because they run inside
 * the two hooks. So do the handlers of the script that they call by `fetch` (`testing/task-requests.ts`). Any other
 * request to a handler belongs to the layer that is open when it begins. A call of a closed layer is not executed: the bucket refuses it, and the isolate refuses it for other bindings
 * (`testing/binding-calls.ts`).
 */
import { AsyncLocalStorage } from "node:async_hooks";
import * as pool from "cloudflare:test-internal";
import { DurableObject } from "cloudflare:workers";
import { TestRunner, type TestContext } from "vitest";
import type { CallList } from "../call-lists.ts";
import { optionsKey, type RunnerOptions } from "../controls.ts";
import type { AnyCall } from "../call-details.ts";
import { poolState } from "../pool-state.ts";
import { shareProxiesOfPool } from "../pool-session.ts";
import { UndoneWrites } from "../undone-writes.ts";
import { unmarkRequests } from "../task-requests.ts";
import { hasSharedFixtures, setUpSharedFixtures } from "./shared-fixtures.ts";
import { TaskLayers } from "./task-layers.ts";

type Test = Parameters<TestRunner["onBeforeRunTask"]>[0];
type Suite = Parameters<TestRunner["onBeforeRunSuite"]>[0];
type File = Parameters<TestRunner["onCollectStart"]>[0];

shareProxiesOfPool((wrapper, isNew) => {
  // An object that begins can write, and an alarm begins an object without a call of a binding.
  if (wrapper instanceof DurableObject) poolState().runtime.layers.touch("state");
  if (isNew) unmarkRequests(wrapper, (task, handle) => poolState().runForTask(task, handle));
});

/** A suite, or an attempt of a test, whose functions and hooks are running */
interface RunningTask {
  readonly layer: number | undefined;
  readonly calls: CallList;
}

/** The property of a hook that sets its timeout, in vitest's runner. 0: no timeout */
const timeoutKey = Symbol.for("VITEST_AROUND_TIMEOUT");

export default class IsolatingRunner extends TestRunner {
  readonly #options: RunnerOptions;
  readonly #state = poolState();
  readonly #layers = new TaskLayers(this.#state.runtime.layers);
  readonly #undone = new UndoneWrites();
  readonly #task = new AsyncLocalStorage<RunningTask>();
  /** Ends the fixtures of the worker */
  #cleanUpWorker: () => unknown = () => {};
  readonly #calls = new WeakMap<Test | Suite, CallList>();
  /** The tasks that have made requests to the script; the index of a task is its number. */
  readonly #requesters: RunningTask[] = [];
  /** The layer of each request to a handler that no task has made */
  readonly #requestLayers = new WeakMap<object, number | undefined>();

  constructor(...args: ConstructorParameters<typeof TestRunner>) {
    super(...args);
    this.#options = this.injectValue(optionsKey);
    const { isolate, hasOtherWorkers } = this.#options;
    this.#state.runtime.layers.isolate(isolate, !hasOtherWorkers);
    this.#state.layerOf = (kind) =>
      this.#options.isolate.includes(kind) ? (this.#layerOfCall() ?? 0) : 0;
    this.#state.listOf = () => this.#task.getStore()?.calls;
    this.#state.numberOfTask = () => this.#numberOf(this.#task.getStore());
    this.#state.runForTask = (number, act) => {
      const task = this.#requesters[number];
      return task === undefined ? act() : this.#task.run(task, act);
    };
    this.#state.beginRequest = (request) => {
      if (!this.#requestLayers.has(request)) {
        this.#requestLayers.set(request, this.#layers.current);
      }
    };
    this.#state.namesOfLayer = (layer) =>
      this.#layers.tasksOf(layer).map((task) => nameOf(task as Test));
  }

  override async onCollectStart(file: File): Promise<void> {
    super.onCollectStart(file);
    // The layer of a file includes the writes of its top-level code.
    await this.#begin(file);
  }

  override async onBeforeRunSuite(suite: Suite): Promise<void> {
    await super.onBeforeRunSuite(suite);
    // A file that cannot be collected has no hooks.
    const hooks = TestRunner.getSuiteHooks(suite) as
      | ReturnType<typeof TestRunner.getSuiteHooks>
      | undefined;
    hooks?.aroundAll.unshift(withoutTimeout((run) => this.#around(run, suite)));
    if (suite === suite.file) {
      // After the hooks of the project: a fixture may need what they write.
      if (hasSharedFixtures()) hooks?.beforeAll.push(setUpSharedFixtures);
      hooks?.aroundEach.unshift(
        withoutTimeout((run, { task }: TestContext) => this.#around(run, task)),
      );
    }
  }

  async #around(run: () => Promise<void>, task: Test | Suite): Promise<void> {
    // The layer of a file is open: it includes the writes of top-level code.
    if (task !== task.file) await this.#begin(task);
    const calls = this.#state.lists.begin(task.type === "test");
    this.#calls.set(task, calls);
    try {
      await this.#task.run({ layer: this.#layers.current, calls }, run);
      // Before the layer of the file is closed
      if (task === task.file) await this.#cleanUpWorker();
    } finally {
      this.#state.lists.end(calls);
    }
  }

  /** vitest calls the listener when the worker ends, which runs one file. The layer of the file is closed then. */
  override onCleanupWorkerContext(listener: () => unknown): void {
    this.#cleanUpWorker = listener;
  }

  override async onAfterRunSuite(suite: Suite): Promise<void> {
    await super.onAfterRunSuite(suite);
    const report = await this.#unusedFaults(suite);
    if (report !== null) {
      const errors = [...(suite.result?.errors ?? []), { name: "Error", message: report }];
      suite.result = { ...suite.result, state: "fail", errors };
    }
    await this.#layers.end(suite);
  }

  async onAfterRetryTask(test: Test): Promise<void> {
    if (test.result?.state === "fail") await this.#report(test);
    else if (test.result?.state === "pass") {
      const report = await this.#unusedFaults(test);
      if (report !== null) throw withoutStack(new Error(report));
    }
  }

  override async onAfterRunTask(test: Test): Promise<void> {
    super.onAfterRunTask(test);
    // The writes of concurrent tests stay until the last test of their group ends.
    if (!test.concurrent) this.#undone.add(nameOf(test), this.#isolatedCalls(test));
    // A late request keeps the list, and vitest keeps the test.
    this.#calls.get(test)?.calls.splice(0);
    this.#calls.delete(test);
    await this.#layers.end(test);
  }

  override async onAfterRunFiles(): Promise<void> {
    super.onAfterRunFiles();
    await this.#layers.endAll();
    if (!this.#options.reusesRuntime) return;
    if (pool.reset === undefined) throw new Error(missingReset);
    await pool.reset();
  }

  async #begin(task: Test | Suite): Promise<void> {
    this.#state.runtime.forgetSnapshots();
    await this.#layers.begin(task);
  }

  #layerOfCall(): number | undefined {
    const { current } = this.#layers;
    const task = this.#task.getStore();
    if (task !== undefined) return task.layer;
    const request = pool.handlerContextStore?.getStore();
    // The context of a Durable Object outlives requests, and belongs to no test.
    if (request === undefined || "storage" in request) return current;
    return this.#requestLayers.has(request) ? this.#requestLayers.get(request) : current;
  }

  #numberOf(task: RunningTask | undefined): number | undefined {
    if (task === undefined) return undefined;
    const number = this.#requesters.lastIndexOf(task);
    return number === -1 ? this.#requesters.push(task) - 1 : number;
  }

  /** The calls of the last attempt */
  #isolatedCalls(test: Test): AnyCall[] {
    const calls = this.#calls.get(test)?.calls ?? [];
    return calls.filter(({ kind = "store" }) => this.#options.isolate.includes(kind));
  }

  /**
   * Warns of faults that a test or suite has set and that hit no call. Concurrent tests share their faults, and the
   * end of one of them says nothing.
   *
   * @returns the text of an error instead, if the project wants one
   */
  async #unusedFaults(task: Test | Suite): Promise<string | null> {
    const { current = 0 } = this.#layers;
    const { unusedFaults } = this.#options;
    if (unusedFaults === "ignore" || task.concurrent) return null;
    if (!this.#layers.tasksOf(current).includes(task)) return null;
    const lines = await this.#state.runtime.unusedFaults(current);
    if (lines.length === 0) return null;
    const report = [
      `"${nameOf(task)}" has faults that hit no call:`,
      ...lines.map((line) => `  ${line}`),
      "Correct or remove them. The option faults.unused of ledge() turns this report off, or into an error.",
    ].join("\n");
    if (unusedFaults === "error") return report;
    console.warn(report);
    return null;
  }

  /** Appends to the error of a failed test what may have caused it. */
  async #report(test: Test): Promise<void> {
    const [error] = test.result?.errors ?? [];
    if (error === undefined) return;
    const faults = await this.#state.runtime.describeFaults();
    for (const report of [faults, this.#undone.describe(this.#isolatedCalls(test))]) {
      // vitest keeps the errors of earlier attempts.
      if (!error.message.includes(report)) error.message += `\n\n${report}`;
    }
  }
}

const missingReset =
  "Watch mode of ledge/vitest needs reset() of the vitest pool, and this version of the pool has none. " +
  'Install a version that Ledge was tested with: see "Versions" in docs/stock-tools.md.';

/** No line of the test is to blame. */
function withoutStack(error: Error): Error {
  error.stack = String(error);
  return error;
}

function withoutTimeout<Hook extends object>(hook: Hook): Hook {
  return Object.assign(hook, { [timeoutKey]: 0 });
}

function nameOf({ fullTestName, name }: Test | Suite): string {
  return fullTestName || name;
}
