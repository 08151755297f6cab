/** What the controls of a runtime can do: `StoreControl` and `DnsApi`, as they are called. */
import type { FixtureObject, SeedObject } from "../store/core/fixture.ts";
import type { Call } from "../store/core/recorded-call.ts";
import type { StoreFault, InjectedFault } from "../store/core/store-fault.ts";

export interface StoreControlStub {
  now(): Promise<number>;
  advance(milliseconds: number): Promise<void>;
  resetClock(): Promise<void>;
  openLayer(layer: number, snapshot?: boolean): Promise<void>;
  /** @param next a layer to open as soon as this one is closed */
  closeLayer(layer: number, next?: number): Promise<void>;
  armFault(fault: StoreFault): Promise<void>;
  disarmFaults(): Promise<void>;
  injectedFaults(): Promise<readonly InjectedFault[]>;
  watchCalls(): Promise<void>;
  calls(): Promise<readonly Call[]>;
  seed(bucketName: string, objects: readonly SeedObject[]): Promise<string | null>;
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
  openLayer(layer: number): Promise<void>;
  closeLayer(layer: number, next?: number): Promise<void>;
}

export interface Controls {
  readonly store: StoreControlStub;
  readonly dns?: DnsControlStub;
}
