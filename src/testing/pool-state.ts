/**
 * The state that the test runner (`vitest/runner.ts`) and the tests (`ledge/test`) of the vitest
 * pool share.
 *
 * vitest loads modules again for each test file, and separately for the runner and the tests. So
 * the state is a property of the global object. It lives as long as the isolate, which the script
 * runs in too.
 */
import * as pool from "cloudflare:test-internal";
import { env } from "cloudflare:workers";
import type { CallObserver } from "../store/client/call-observer.ts";
import { describeCall, type Call } from "../store/core/recorded-call.ts";
import { faultOf, outcomeIn } from "../store/transport/message.ts";
import { controlBinding, findControls, stateBinding } from "./controls.ts";
import { StateControl, type StateService } from "./state-control.ts";
import { TestRuntime } from "./test-runtime.ts";

interface PoolState {
  readonly runtime: TestRuntime;
  /** The calls that this isolate made since the current test, suite or file began */
  readonly calls: Call[];
  /** The isolation layer of a call that is made now; 0 without isolation */
  layerOfCall: () => number;
  /** The names of the tests, suites or files of an isolation layer */
  namesOfLayer: (layer: number) => readonly string[];
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
  const state: PoolState = {
    runtime: new TestRuntime({ ...controls, ...stateControl(bindings[stateBinding]) }),
    calls: [],
    layerOfCall: () => 0,
    namesOfLayer: () => [],
  };
  observe(bindings, {
    layer: () => state.layerOfCall(),
    record(bucketName, operation, answer, layer) {
      const call = describeCall(bucketName, operation, outcomeIn(answer));
      if (call === null) return;
      if (faultOf(answer)?.late) warnOfLateCall(call, state.namesOfLayer(layer ?? 0));
      else state.calls.push(call);
    },
  });
  void followOtherWorkers(state);
  return state;
}

/** Bindings other than buckets and DNS, if the plugin isolates them. */
function stateControl(service: unknown): { readonly state?: StateControl } {
  if (service === undefined) return {};
  const { abortAllDurableObjects: abort } = pool;
  if (abort === undefined) {
    throw new Error(
      "This version of the vitest pool has no abortAllDurableObjects(), which the isolation of bindings needs. " +
        'Install a newer version, or isolate buckets and DNS only: ledge({ isolate: ["store", "dns"] }).',
    );
  }
  return { state: new StateControl(service as StateService, abort) };
}

/** Adds the calls of the runtime's other workers, until the runtime ends. */
async function followOtherWorkers({ runtime, calls }: PoolState): Promise<void> {
  try {
    for (;;) calls.push(...(await runtime.nextCalls()));
  } catch {
    // The runtime has ended.
  }
}

/** Sets the observer through one bucket, because all buckets of an isolate share it. */
function observe(bindings: Record<string, unknown>, observer: CallObserver): void {
  for (const binding of Object.values(bindings)) {
    if (typeof binding !== "object" || binding === null) continue;
    // An own property, because the stub of a service seems to have every property.
    const own = Object.getOwnPropertyDescriptor(binding, "ledge:observe");
    if (own === undefined) continue;
    (own.value as (observer: CallObserver) => void)(observer);
    return;
  }
}

/** @param names of the test that made the call: several if it ran concurrently with others */
function warnOfLateCall({ method, key, bucket }: Call, names: readonly string[]): void {
  const test = names.length === 0 ? "its test" : names.map((name) => `"${name}"`).join(" or ");
  console.warn(
    `${method} of "${key}" in "${bucket}" arrived after ${test} had ended, and was not executed. ` +
      "Await the call in the test, or wait for the script with waitOnExecutionContext().",
  );
}
