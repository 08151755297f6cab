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
import type { PoolSession } from "./pool-session.ts";
import type { StateControl } from "./state-control.ts";

export const controlBinding = "LEDGE_STORE_CONTROL";
export const dnsBinding = "LEDGE_DNS";
export const stateBinding = "LEDGE_STATE";

interface StoreControlStub {
  now(): Promise<number>;
  advance(milliseconds: number): Promise<void>;
  resetClock(): Promise<void>;
  openLayer(layer: number, snapshot?: boolean): Promise<void>;
  /** @param next an isolation layer to open in the same call */
  closeLayer(layer: number, next?: number): Promise<void>;
  /** Resolves to an error message, or to `null`. */
  armFault(fault: StoreFault): Promise<string | null>;
  disarmFaults(): Promise<void>;
  injectedFaults(): Promise<readonly InjectedFault[]>;
  unusedFaults(): Promise<readonly UnusedFault[]>;
  watchCalls(): Promise<void>;
  calls(): Promise<readonly Call[]>;
  /** The next calls of the other workers of the runtime: `store/bucket/test-session.ts` */
  nextCalls(): Promise<readonly Call[]>;
  /** Resolves to an error message, or to `null`. */
  seed(bucketName: string, objects: readonly SeedObject[]): Promise<string | null>;
  /** Resolves to an error message, or to `null`. */
  seedFolder(bucketName: string, path: string): Promise<string | null>;
  contents(bucketName: string, prefix: string): Promise<FixtureObject[]>;
}

export interface DnsControlStub {
  fetch(
    url: string,
    init?: { method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<{
    readonly ok: boolean;
    readonly status: number;
    json(): Promise<unknown>;
  }>;
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
}

/** The controls among the bindings of a script. `null` without the control of the store. */
export function findControls(bindings: Readonly<Record<string, unknown>>): Controls | null {
  const store = bindings[controlBinding] as StoreControlStub | undefined;
  const dns = bindings[dnsBinding] as DnsControlStub | undefined;
  return store === undefined ? null : { store, ...(dns !== undefined && { dns }) };
}
