/**
 * The state that the test runner (`vitest/runner.ts`) and the tests (`ledge/test`) of the vitest
 * pool share.
 *
 * vitest loads modules again for each test file, and separately for the runner and the tests. So
 * the state is a property of the global object. It lives as long as the isolate, which the script
 * runs in too.
 */
import * as pool from "cloudflare:test-internal";
import { DurableObject, env, exports } from "cloudflare:workers";
import unsafe from "workerd:unsafe";
import type { CallObserver } from "../store/client/bucket-calls.ts";
import type { Method } from "../store/core/errors.ts";
import { describeCall } from "../store/core/fault.ts";
import { describePlannedCall, type BindingKind } from "./binding-call.ts";
import { BindingCalls } from "./binding-calls.ts";
import {
  controlBinding,
  edgeBinding,
  findControls,
  stateBinding,
  stateControl,
  type StateService,
  type TestEdge,
} from "./controls.ts";
import { CallLists, type CallList, type Calls } from "./call-lists.ts";
import type { KnownNames } from "./call-details.ts";
import { followAlarms } from "./moved-alarms.ts";
import { moveTimeOfBindings } from "./moved-time.ts";
import { PoolSession } from "./pool-session.ts";
import { RequestsByName } from "./requests-by-name.ts";
import { markRequests } from "./task-requests.ts";
import { TestRuntime } from "./test-runtime.ts";
import { kindsOfBindings, watchBindings } from "./watch-bindings.ts";
import { touchBeforeUse } from "./watch-others.ts";
import { resolveFromZones } from "./zone-resolver.ts";

interface PoolState {
  readonly runtime: TestRuntime;
  readonly lists: CallLists;
  /** The calls of the test, suite or file that reads them */
  readonly calls: Calls;
  /** Known when a test has loaded `ledge/test` */
  names?: KnownNames;
  /** The isolation layer of a call that is made now; 0 if writes to bindings of this kind are not undone */
  layerOf: (kind: "store" | BindingKind) => number;
  /** The list of the test, suite or file that makes a call now */
  listOf: () => CallList | undefined;
  /** The names of the tests, suites or files of an isolation layer */
  namesOfLayer: (layer: number) => readonly string[];
  /** A handler of the script is called, with this context. */
  beginRequest: (context: object) => void;
  /** A number for the test, suite or file that makes a request now */
  numberOfTask: () => number | undefined;
  /** Calls a handler of the script for a request of a test, suite or file. */
  runForTask: <Result>(number: number, act: () => Result) => Result;
}

const stateKey = Symbol.for("ledge:test");

export function poolState(): PoolState {
  const global = globalThis as { [stateKey]?: PoolState };
  return (global[stateKey] ??= makeState());
}

function makeState(): PoolState {
  const bindings = env as unknown as Record<string, unknown>;
  const controls = findControls(bindings);
  if (controls === null) {
    throw new Error(
      `There is no binding ${controlBinding}. "ledge/test" works in tests whose vitest.config.ts ` +
        'has the plugin of "ledge/vitest".',
    );
  }
  const buckets = findBuckets(bindings);
  const session = new PoolSession(
    kindsOfBindings({ ...exports, ...bindings }),
    new Map(buckets.map(([binding, bucket]) => [binding, bucket["ledge:name"]])),
  );
  const bindingCalls = new BindingCalls(session, {
    layerOf: (kind) => state.layerOf(kind),
    touch({ kind, method }) {
      if (isStateKind(kind)) layers.touch("state");
      // Objects that a service returns can write later, and their calls are not seen.
      else if (kind === "service" && method !== "fetch") layers.touchAlways();
      else layers.touch();
    },
    record: (call) => state.lists.record(call, state.listOf()),
    warnOfLateCall: (call, layer, wasRunning) =>
      warnOfLateCall(describePlannedCall(call), state.namesOfLayer(layer), wasRunning),
  });
  const lists = new CallLists();
  const objects = watchObjects(() => layers.touch());
  const service = bindings[stateBinding] as StateService | undefined;
  const { default: script } = exports as { readonly default?: object };
  const names = JSON.parse(bindings[edgeBinding] as string) as TestEdge;
  const edge =
    controls.dns &&
    new RequestsByName(names, controls.dns, {
      script: (name) => (name === names.script ? script : bindings[names.services[name] ?? ""]),
      bucket: (name) => buckets.find(([, bucket]) => bucket["ledge:name"] === name)?.[1],
    });
  const state: PoolState = {
    runtime: new TestRuntime({
      ...controls,
      ...(service !== undefined && {
        state: stateControl(
          service,
          () => objects.abort(),
          () => bindingCalls.hasLateCalls,
        ),
      }),
      session,
      edge,
    }),
    lists,
    calls: lists.show(() => state.listOf()),
    layerOf: () => 0,
    listOf: () => undefined,
    namesOfLayer: () => [],
    beginRequest: () => {},
    numberOfTask: () => undefined,
    runForTask: (_, act) => act(),
  };
  const { layers } = state.runtime;
  const observer: CallObserver = {
    layer: () => state.layerOf("store"),
    isOpen: (layer = 0) => session.isOpen(layer),
    send(method, layer = 0) {
      // The bucket does not execute calls of layers that it does not know, and removes what they have written.
      if (!session.isOpen(layer)) return unknownLayer;
      if (!bucketReads.has(method)) layers.touch("store");
      return layers.layerIn("store", layer);
    },
    recorder(bucketName, layer) {
      const list = state.listOf();
      return (operation, outcome) => {
        const call = describeCall(bucketName, operation, outcome);
        if (call === null) return;
        if (!outcome.fault?.late) lists.record(call, list);
        else {
          const text = `${call.method} of "${call.key}" in "${bucketName}"`;
          warnOfLateCall(text, state.namesOfLayer(layer ?? 0), outcome.ok);
        }
      };
    },
  };
  // All local buckets of an isolate share an observer, and so do all remote buckets.
  for (const [, bucket] of buckets) bucket["ledge:observe"](observer);
  edge?.leadFetch();
  // Queries over HTTPS come first: their host may have a name in a zone.
  if (controls.dns !== undefined) resolveFromZones(controls.dns);
  moveTimeOfBindings(bindings, session);
  touchBeforeUse(bindings, layers);
  const { runInDurableObject: runInObject } = pool;
  session.alarms =
    runInObject &&
    followAlarms({ ...exports, ...bindings }, session, { runInObject, base: DurableObject });
  watchBindings({ ...exports, ...bindings }, bindingCalls, () => objects.ended);
  watchRequests(state);
  if (script !== undefined) markRequests(script, () => state.numberOfTask());
  void followOtherWorkers(state);
  return state;
}

/** The reads of a bucket, which leave nothing to undo. All other operations may write. */
const bucketReads: ReadonlySet<Method> = new Set([
  "head",
  "get",
  "list",
  "listUploads",
  "listParts",
  "getSettings",
  "stats",
]);

const unknownLayer = -1;

/** Whether a call of this kind writes to the files of bindings alone. Calls of services and `fetch()` can write anywhere. */
function isStateKind(kind: BindingKind): boolean {
  return kind !== "service" && kind !== "queue" && kind !== "fetch";
}

/**
 * Sees when the runtime ends its objects. All do this by one object of the runtime: isolation, and tests by
 * functions of the pool (`reset()`, `abortAllDurableObjects()`, `evictAllDurableObjects()`).
 *
 * @param onEnd a test ends the objects
 */
function watchObjects(onEnd: () => void): { readonly ended: number; abort(): Promise<void> } {
  const { abortAllDurableObjects } = unsafe;
  const objects = {
    /** How often the runtime has ended its objects */
    ended: 0,
    /** Ends all objects, for isolation. */
    async abort() {
      if (abortAllDurableObjects === undefined) throw new Error(missingAbort);
      await abortAllDurableObjects.call(unsafe);
      objects.ended++;
    },
  };
  for (const name of [
    "abortAllDurableObjects",
    "deleteAllDurableObjects",
    "evictAllDurableObjects",
    "evict",
  ] as const) {
    const end = unsafe[name];
    if (end === undefined) continue;
    unsafe[name] = async (...args) => {
      onEnd();
      try {
        await end.apply(unsafe, args);
      } finally {
        objects.ended++;
      }
    };
  }
  return objects;
}

const missingAbort =
  "This version of the vitest pool has no abortAllDurableObjects(), which the isolation of bindings needs. " +
  'Install a newer version, or isolate buckets and DNS only: ledge({ isolate: ["store", "dns"] }).';

/** The pool calls each handler through `run` of its store of contexts. */
function watchRequests(state: PoolState): void {
  const { handlerContextStore: store } = pool;
  if (store === undefined) return;
  const run = store.run.bind(store);
  store.run = (context, act) => {
    state.beginRequest(context);
    return run(context, act);
  };
}

/** Adds the calls of the runtime's other workers, until the runtime ends. */
async function followOtherWorkers({ runtime, lists }: PoolState): Promise<void> {
  try {
    for (;;) for (const call of await runtime.nextCalls()) lists.record(call, undefined);
  } catch {
    // The runtime has ended.
  }
}

interface ObservableBucket {
  readonly "ledge:name": string;
  readonly "ledge:observe": (observer: CallObserver) => void;
}

function findBuckets(bindings: Record<string, unknown>): [string, ObservableBucket][] {
  return Object.entries(bindings).filter((entry): entry is [string, ObservableBucket] => {
    const [, value] = entry;
    // An own property, because the stub of a service seems to have every property.
    return typeof value === "object" && value !== null && Object.hasOwn(value, "ledge:observe");
  });
}

/** @param names of the test that made the call: several if it ran concurrently with others */
function warnOfLateCall(call: string, names: readonly string[], wasRunning = false): void {
  const test = names.length === 0 ? "its test" : names.map((name) => `"${name}"`).join(" or ");
  console.warn(
    (wasRunning
      ? `${call} was running when ${test} ended, and was cancelled. `
      : `${call} arrived after ${test} had ended, and was not executed. `) +
      "Await the call in the test, or wait for the script with waitOnExecutionContext().",
  );
}
