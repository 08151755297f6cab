/**
 * What happens to each call of the script's bindings other than buckets, and of `fetch()`, in the isolate of script and tests.
 *
 *     script, test ─▶ patched method (watch-bindings.ts) ─▶ BindingCalls.run ─▶ KV, D1, R2, cache, object
 *                                                             │ is the test of the call still running?
 *                                                             │ does a fault hit the call? (pool-session.ts)
 *                                                             └ the call is recorded
 */
import { delay, neverContinue } from "../store/client/failure.ts";
import {
  describeResult,
  isRead,
  type BindingCall,
  type BindingKind,
  type PlannedCall,
} from "./binding-call.ts";
import { failedCall, type InjectedBindingFault } from "./binding-fault.ts";
import type { PoolSession } from "./pool-session.ts";

/** What the calls need of the test runner. */
export interface CallOwner {
  /** The isolation layer of a call that is made now; 0 if writes to bindings of this kind are not undone */
  layerOf(kind: BindingKind): number;
  /** A call that may write is made now. */
  touch(call: PlannedCall): void;
  record(call: BindingCall): void;
  /** @param wasRunning the call was running when its test ended; otherwise it was made afterwards */
  warnOfLateCall(call: PlannedCall, layer: number, wasRunning: boolean): void;
}

export class BindingCalls {
  readonly #session: PoolSession;
  readonly #owner: CallOwner;
  /** The layers of the calls that have no result yet */
  readonly #running: number[] = [];

  constructor(session: PoolSession, owner: CallOwner) {
    this.#session = session;
    this.#owner = owner;
  }

  /** Whether a call of a closed layer is still running. */
  get hasLateCalls(): boolean {
    return this.#running.some((layer) => this.#isLate(layer));
  }

  /** Makes a call, or what a fault makes of it. */
  async run<Result>(call: PlannedCall, execute: () => PromiseLike<Result>): Promise<Result> {
    const layer = this.#owner.layerOf(call.kind);
    if (this.#isLate(layer)) return this.#endLate(call, layer);
    const faults = this.#session.hit(call);
    return this.#observe(call, layer, () => this.#execute(call, faults, layer, execute));
  }

  /**
   * Like `run`, but for the promise of an RPC call, which the script must get itself: properties of the
   * result can be called before the promise is settled.
   */
  runRpc(call: PlannedCall, execute: () => PromiseLike<unknown>): PromiseLike<unknown> {
    const layer = this.#owner.layerOf(call.kind);
    if (this.#isLate(layer)) return this.#endLate(call, layer);
    const faults = this.#session.hit(call);
    if (faults.length > 0) {
      return this.#observe(call, layer, () => this.#execute(call, faults, layer, execute));
    }
    const started = performance.now();
    this.touch(call);
    const promise = execute();
    let isAwaited = false;
    // `await` looks for `then` on the object first. The method on the prototype stays as it is.
    const observed = promise.then.bind(promise);
    // oxlint-disable-next-line unicorn/no-thenable -- the promise has `then` already
    Object.defineProperty(promise, "then", {
      configurable: true,
      value: (...handlers: Parameters<typeof observed>) => {
        isAwaited = true;
        return observed(...handlers);
      },
    });
    const end = this.#begin(layer);
    void observed(
      () => {
        end();
        this.#record(call, started, { outcome: "ok" });
      },
      async (error: unknown) => {
        end();
        if (this.#isLate(layer)) return this.#owner.warnOfLateCall(call, layer, true);
        this.#record(call, started, { outcome: "error", error: messageOf(error) });
        // `await` asks for `then` in a later microtask, and a call can fail before it begins.
        await microtasks(5);
        // The runtime reports the error of a promise that nothing handles, and this handler hides it.
        if (!isAwaited) throw error;
      },
    );
    return promise;
  }

  /** Called before each call that may write leaves the isolate. */
  touch(call: PlannedCall): void {
    if (!isRead(call)) this.#owner.touch(call);
  }

  #isLate(layer: number): boolean {
    return !this.#session.isOpen(layer);
  }

  #endLate(call: PlannedCall, layer: number, wasRunning = false): Promise<never> {
    this.#owner.warnOfLateCall(call, layer, wasRunning);
    return neverContinue();
  }

  async #observe<Result>(
    call: PlannedCall,
    layer: number,
    execute: () => Promise<Result>,
  ): Promise<Result> {
    const started = performance.now();
    try {
      const result = await execute();
      // A read does not end with its test, but the code that made the call must not continue.
      if (this.#isLate(layer)) return await this.#endLate(call, layer, true);
      this.#record(call, started, describeResult(call, result));
      return result;
    } catch (error) {
      // Isolation has ended the object behind the binding.
      if (this.#isLate(layer)) return this.#endLate(call, layer, true);
      this.#record(call, started, { outcome: "error", error: messageOf(error) });
      throw error;
    }
  }

  /** The delays of faults add up. Then the call fails, if one of the faults makes it fail. */
  async #execute<Result>(
    call: PlannedCall,
    faults: readonly InjectedBindingFault[],
    layer: number,
    execute: () => PromiseLike<Result>,
  ): Promise<Result> {
    const failure = faults.find(({ effect }) => effect.kind !== "slow");
    const isExecuted = failure?.when !== "before";
    const [early, late] = delaysOf(faults);
    const first = isExecuted ? early : early + late;
    // Without a delay, the call is made in this turn, and the stack of its error has the line of the caller.
    if (first > 0) await this.#wait(call, layer, first);
    if (!isExecuted) return failedCall(call, failure) as Result;
    this.touch(call);
    const end = this.#begin(layer);
    let result: Result;
    try {
      result = await execute();
    } finally {
      end();
    }
    if (late > 0) await this.#wait(call, layer, late);
    return failure === undefined ? result : (failedCall(call, failure) as Result);
  }

  async #wait(call: PlannedCall, layer: number, milliseconds: number): Promise<void> {
    await delay(milliseconds);
    if (this.#isLate(layer)) await this.#endLate(call, layer);
  }

  #begin(layer: number): () => void {
    this.#running.push(layer);
    return () => this.#running.splice(this.#running.indexOf(layer), 1);
  }

  #record(
    call: PlannedCall,
    started: number,
    result: Pick<BindingCall, "outcome" | "error" | "status">,
  ): void {
    this.#owner.record({ ...call, ...result, milliseconds: performance.now() - started });
  }
}

async function microtasks(count: number): Promise<void> {
  for (let task = 0; task < count; task++) await Promise.resolve();
}

/** The delays before and after the execution of a call. */
function delaysOf(faults: readonly InjectedBindingFault[]): [before: number, after: number] {
  const sum: [number, number] = [0, 0];
  for (const { effect, when } of faults) {
    if (effect.kind === "slow") sum[when === "before" ? 0 : 1] += effect.milliseconds;
  }
  return sum;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
