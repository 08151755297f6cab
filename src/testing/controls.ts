/**
 * The controls of a runtime: bindings through which tests reach the store and the DNS, beside the
 * bindings of the script. `StoreControl` (`store/bucket/store-control.ts`) and `DnsApi`
 * (`worker/index.ts`) implement them; tests call them through RPC stubs.
 */
import type {
  FixtureObject,
  SeedObject,
  Call,
  InjectedFault,
  StoreFault,
  UnusedFault,
} from "../store/core/fault.ts";
import type { EdgeTable } from "../edge/core/destination.ts";
import type { CorsRule } from "../store/core/cors.ts";
import type { PoolSession } from "./pool-session.ts";

export const controlBinding = "LEDGE_STORE_CONTROL";
export const dnsBinding = "LEDGE_DNS";
export const stateBinding = "LEDGE_STATE";
export const edgeBinding = "LEDGE_EDGE";

/** What the names of a test lead to, besides the records of zones. */
export interface TestEdge {
  readonly table: EdgeTable;
  /** The CORS rules of buckets; without a bucket, of every bucket */
  readonly cors: readonly (CorsRule & { readonly bucket?: string })[];
  /** The script under test */
  readonly script: string;
  /** The service bindings of the script under test, by the scripts that they call */
  readonly services: Readonly<Record<string, string>>;
  /** Whether `fetch()` of the script also reaches its own routes (`global_fetch_strictly_public`) */
  readonly isPublicFetch: boolean;
}

/** A method that resolves to a text resolves to an error message, or to `null`. */
interface StoreControlStub {
  now(): Promise<number>;
  advance(milliseconds: number): Promise<void>;
  resetClock(): Promise<void>;
  openLayer(layer: number, snapshot?: boolean): Promise<void>;
  /** @param next an isolation layer to open in the same call */
  closeLayer(layer: number, next?: number): Promise<void>;
  armFault(fault: StoreFault): Promise<string | null>;
  disarmFaults(): Promise<void>;
  injectedFaults(): Promise<readonly InjectedFault[]>;
  unusedFaults(): Promise<readonly UnusedFault[]>;
  watchCalls(): Promise<void>;
  calls(): Promise<readonly Call[]>;
  /** The next calls of the other workers of the runtime: `store/bucket/test-session.ts` */
  nextCalls(): Promise<readonly Call[]>;
  seed(bucketName: string, objects: readonly SeedObject[]): Promise<string | null>;
  seedFolder(bucketName: string, path: string): Promise<string | null>;
  contents(bucketName: string, prefix: string): Promise<FixtureObject[] | string>;
  bucketNames(): Promise<readonly string[]>;
}

export interface DnsControlStub {
  fetch(
    url: string,
    init?: { method?: string; headers?: Record<string, string>; body?: string | ArrayBuffer },
  ): Promise<Response>;
  advanceClock(milliseconds: number): Promise<void>;
  openLayer(layer: number, snapshot?: boolean): Promise<void>;
  closeLayer(layer: number, next?: number): Promise<void>;
}

export interface Controls {
  readonly store: StoreControlStub;
  readonly dns?: DnsControlStub;
  /** The isolate of script and tests, in the vitest pool */
  readonly session?: PoolSession;
  /** The files of the other bindings, in the vitest pool */
  readonly state?: StateControl;
  /** Names that lead to scripts and buckets, in the vitest pool */
  readonly edge?: { readonly fetch: typeof globalThis.fetch };
}

/** The controls among the bindings of a script. `null` without the control of the store. */
export function findControls(bindings: Readonly<Record<string, unknown>>): Controls | null {
  const store = bindings[controlBinding] as StoreControlStub | undefined;
  const dns = bindings[dnsBinding] as DnsControlStub | undefined;
  return store === undefined ? null : { store, dns };
}

/** The options that the plugin (`vitest/index.ts`, in Node) provides to the runner (`vitest/runner.ts`, in workerd). */
export interface RunnerOptions {
  /** The kinds of bindings whose writes are undone. Every test and suite has an isolation layer. */
  readonly isolate: readonly string[];
  /** Whether the runtime has other workers, whose calls the isolate of the script does not see. */
  readonly hasOtherWorkers: boolean;
  /** `true`: the next run reuses the runtime, so the runner resets it at the end. */
  readonly reusesRuntime: boolean;
  /** What happens when a test or suite ends whose faults hit no call. */
  readonly unusedFaults: "warn" | "error" | "ignore";
}

export const optionsKey = "ledge:options";

declare module "vitest" {
  interface ProvidedContext {
    [optionsKey]: RunnerOptions;
  }
}

export interface StateService {
  fetch(
    url: string,
    init: { method: string },
  ): Promise<{ readonly ok: boolean; text(): Promise<string> }>;
}

/**
 * Takes a step of the state of a runtime's other bindings: KV, D1, R2, caches, Durable Objects. One step at a time.
 *
 * @param step `open?layer=1`, `close?layer=1&next=2`
 * @param others what must have ended before objects are aborted
 */
export type StateControl = (step: string, others: Promise<unknown>) => Promise<void>;

/** A call may wait for something that is not an object: then nothing here can end it. */
const roundsMax = 20;

/**
 * The files of the other bindings are outside of the runtime (`isolation/state-files.ts`), and change while
 * no object is alive. So the runner asks the server of the files, aborts the objects if the server says so,
 * and lets the server finish.
 *
 * @param hasLateCalls whether a call of a closed isolation layer is still running
 */
export function stateControl(
  service: StateService,
  abortObjects: () => Promise<void>,
  hasLateCalls: () => boolean,
): StateControl {
  const ask = async (step: string): Promise<boolean> => {
    const response = await service.fetch(`http://state/${step}`, { method: "POST" });
    const text = await response.text();
    if (response.ok) return text === "true";
    throw new Error(`Cannot isolate the bindings of a test: ${text}`);
  };
  /**
   * A call that is on its way could arrive when the files are restored. The end of the objects ends the
   * calls; a call that no object has received yet begins an object anew, so this may take several rounds.
   */
  const endLateCalls = async (): Promise<void> => {
    for (let round = 0; round < roundsMax && hasLateCalls(); round++) await abortObjects();
  };
  return async (step, others) => {
    if (hasLateCalls()) await others.then(endLateCalls);
    let [mustAbort] = await Promise.all([ask(step), others]);
    while (mustAbort) {
      await abortObjects();
      mustAbort = await ask("finish");
    }
  };
}
