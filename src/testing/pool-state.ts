/**
 * What the runner and the tests of a runtime share.
 *
 * Modules are loaded anew for every file of tests, the runner's and the tests' own apart, so this
 * hangs on the global object. It lives as long as the isolate, in which the script runs as well.
 */
import { env } from "cloudflare:workers";
import type { Observer } from "../store/client/call-observer.ts";
import { controlBinding, dnsBinding } from "./bindings.ts";
import { describeCall, type Call } from "../store/core/recorded-call.ts";
import type { Controls, DnsControlStub, StoreControlStub } from "./controls.ts";
import { TestRuntime } from "./test-runtime.ts";

interface PoolState {
  readonly store: TestRuntime;
  readonly controls: Controls;
  /** Of the test that runs, in this isolate */
  readonly calls: Call[];
  /** To which layer of isolation a call belongs that is made now */
  layerOfCall: () => number | undefined;
}

const place = Symbol.for("ledge:test");

/** Made when it is first asked for. */
export function poolState(): PoolState {
  const global = globalThis as { [place]?: PoolState };
  return (global[place] ??= makeState());
}

function makeState(): PoolState {
  const bindings = env as unknown as Record<string, unknown>;
  const store = bindings[controlBinding] as StoreControlStub | undefined;
  if (store === undefined) {
    throw new Error(
      `There is no binding ${controlBinding}. "ledge/test" works in tests whose vitest.config.ts ` +
        'has the plugin of "ledge/vitest".',
    );
  }
  const dns = bindings[dnsBinding] as DnsControlStub | undefined;
  const controls: Controls = { store, ...(dns !== undefined && { dns }) };
  const state: PoolState = {
    store: new TestRuntime(controls),
    controls,
    calls: [],
    layerOfCall: () => undefined,
  };
  observe(bindings, {
    layer: () => state.layerOfCall(),
    note(bucketName, operation, outcome) {
      const call = describeCall(bucketName, operation, outcome);
      if (call === null) return;
      if (outcome.answerFault?.late) warnOfLate(call);
      else state.calls.push(call);
    },
  });
  return state;
}

/** One binding is enough: all of an isolate share what observes them. */
function observe(bindings: Record<string, unknown>, observer: Observer): void {
  for (const binding of Object.values(bindings)) {
    // Its own: a stub of a service says that it has whatever one asks for.
    if (typeof binding !== "object" || binding === null) continue;
    const own = Object.getOwnPropertyDescriptor(binding, "ledge:observe");
    if (own === undefined) continue;
    (own.value as (observer: Observer) => void)(observer);
    return;
  }
}

function warnOfLate({ method, key, bucket }: Call): void {
  console.warn(
    `${method} of "${key}" in "${bucket}" arrived after its test had ended, and was not done. ` +
      "Await it in the test, or wait for the script with waitOnExecutionContext().",
  );
}
