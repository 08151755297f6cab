/**
 * What the runner and the tests of a runtime share.
 *
 * Modules are loaded anew for every file of tests, the runner's and the tests' own apart, so this
 * hangs on the global object. It lives as long as the isolate, in which the script runs as well.
 */
import { env } from "cloudflare:workers";
import type { CallObserver } from "../store/client/call-observer.ts";
import { controlBinding, dnsBinding } from "./bindings.ts";
import { faultOf, outcomeIn } from "../store/transport/message.ts";
import { describeCall, type Call } from "../store/core/recorded-call.ts";
import type { Controls, DnsControls, StoreControls } from "./controls.ts";
import { TestStore } from "./test-store.ts";

interface PoolState {
  readonly store: TestStore;
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
  const store = bindings[controlBinding] as StoreControls | undefined;
  if (store === undefined) {
    throw new Error(
      `There is no binding ${controlBinding}. "ledge/test" works in tests whose vitest.config.ts ` +
        'has the plugin of "ledge/vitest".',
    );
  }
  const dns = bindings[dnsBinding] as DnsControls | undefined;
  const controls: Controls = { store, ...(dns !== undefined && { dns }) };
  const state: PoolState = {
    store: new TestStore(controls),
    controls,
    calls: [],
    layerOfCall: () => undefined,
  };
  observe(bindings, {
    layer: () => state.layerOfCall(),
    record(bucketName, operation, answer) {
      const call = describeCall(bucketName, operation, outcomeIn(answer));
      if (call === null) return;
      if (faultOf(answer)?.late) warnOfLate(call);
      else state.calls.push(call);
    },
  });
  return state;
}

/** One binding is enough: all of an isolate share what observes them. */
function observe(bindings: Record<string, unknown>, observer: CallObserver): void {
  for (const binding of Object.values(bindings)) {
    // Its own: a stub of a service says that it has whatever one asks for.
    if (typeof binding !== "object" || binding === null) continue;
    const own = Object.getOwnPropertyDescriptor(binding, "ledge:observe");
    if (own === undefined) continue;
    (own.value as (observer: CallObserver) => void)(observer);
    return;
  }
}

function warnOfLate({ method, key, bucket }: Call): void {
  console.warn(
    `${method} of "${key}" in "${bucket}" arrived after its test had ended, and was not done. ` +
      "Await it in the test, or wait for the script with waitOnExecutionContext().",
  );
}
