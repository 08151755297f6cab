/**
 * What a test can do to the store of a runtime, wherever the test runs: beside the script in
 * workerd, or in Node.
 */
import type { SeedObject } from "../store/core/fixture.ts";
import type { StoreHTTPMetadata, StoreStorageClass } from "../types/store.ts";
import type { Call } from "../store/core/recorded-call.ts";
import type { Controls } from "./controls.ts";
import { DnsZones } from "./dns-zones.ts";
import { toMilliseconds, type Duration } from "../base/duration.ts";
import {
  describeInjectedFault,
  failEffect,
  makeStoreFault,
  slowEffect,
  type FaultEffect,
  type FaultTarget,
} from "../store/core/store-fault.ts";
import { Layers } from "./isolation-layers.ts";
import { presentObject, type PresentedObject } from "./presented-object.ts";

/** A bucket: its name, or its binding. */
export type BucketReference = string | object;

export type SeedValue = string | ArrayBuffer | ArrayBufferView | Blob | DescribedValue;

export interface DescribedValue {
  value: string | ArrayBuffer | ArrayBufferView | Blob;
  httpMetadata?: StoreHTTPMetadata;
  customMetadata?: Record<string, string>;
  storageClass?: StoreStorageClass;
}

/** So many objects travel at once, and so many bytes. */
const seedCountMax = 500;
const seedBytesMax = 8 * 1024 * 1024;

export class TestRuntime {
  readonly layers: Layers;
  readonly #controls: Controls;
  #snapshot: Snapshot | undefined;

  constructor(controls: Controls, layers = new Layers(controls)) {
    this.#controls = controls;
    this.layers = layers;
  }

  /** The store's time. It is the machine's again when the test ends. */
  readonly clock = {
    now: async (): Promise<Date> => new Date(await this.#controls.store.now()),
    set: async (time: Date | string | number): Promise<void> => {
      const wanted = new Date(time).getTime();
      if (!Number.isFinite(wanted)) throw new TypeError(`"${String(time)}" is no time.`);
      await this.#controls.store.advance(wanted - (await this.#controls.store.now()));
    },
    /** Does what becomes due on the way: uploads expire, alarms run. */
    advance: (duration: Duration): Promise<void> =>
      this.#controls.store.advance(toMilliseconds(duration)),
  };

  /** Faults, which end with the test or the block that has set them. */
  readonly faults = {
    /** Calls fail with an error of the store: 10001, an internal one, if no other is named. */
    fail: (target: FaultTarget & { code?: number; text?: string } = {}): Promise<void> =>
      this.#arm(target, failEffect(target.code, target.text)),
    /** Calls take longer. */
    slow: (target: FaultTarget & { by: Duration }): Promise<void> =>
      this.#arm(target, slowEffect(target.by)),
    /** The connection is lost: halfway through the body of a `get`, and before all else is stored. */
    drop: (target: FaultTarget & { afterBytes?: number } = {}): Promise<void> =>
      this.#arm(target, { kind: "drop", afterBytes: target.afterBytes ?? null }),
    clear: (): Promise<void> => this.#controls.store.disarmFaults(),
    /** What faults have done in this test, a line each. */
    injected: async (): Promise<string[]> =>
      (await this.#controls.store.injectedFaults()).map(describeInjectedFault),
  };

  readonly dns = new DnsZones(() => {
    const { dns } = this.#controls;
    if (dns === undefined) throw new Error("This runtime has no DNS: bind it to one.");
    return dns;
  });

  #arm(target: FaultTarget, effect: FaultEffect): Promise<void> {
    return this.#controls.store.armFault(makeStoreFault(target, effect));
  }

  /** Calls of all scripts of the runtime, from when `watchCalls` was first asked for. */
  async calls(): Promise<readonly Call[]> {
    return this.#controls.store.calls();
  }

  async watchCalls(): Promise<void> {
    await this.#controls.store.watchCalls();
  }

  async seed(bucket: BucketReference, objects: Record<string, SeedValue>): Promise<void> {
    const name = bucketName(bucket);
    let some: SeedObject[] = [];
    let bytes = 0;
    for (const [key, value] of Object.entries(objects)) {
      const object = await toSeedObject(key, value);
      if (some.length >= seedCountMax || bytes + object.bytes.length > seedBytesMax) {
        throwIf(await this.#controls.store.seed(name, some));
        [some, bytes] = [[], 0];
      }
      some.push(object);
      bytes += object.bytes.length;
    }
    if (some.length > 0) throwIf(await this.#controls.store.seed(name, some));
  }

  async seedFolder(bucket: BucketReference, path: string): Promise<void> {
    throwIf(await this.#controls.store.seedFolder(bucketName(bucket), path));
  }

  contents(
    bucket: BucketReference,
    options: { prefix?: string; metadata: true },
  ): Promise<Record<string, PresentedObject>>;
  contents(
    bucket: BucketReference,
    options?: { prefix?: string; metadata?: false },
  ): Promise<Record<string, string>>;
  async contents(
    bucket: BucketReference,
    { prefix = "", metadata = false }: { prefix?: string; metadata?: boolean } = {},
  ): Promise<Record<string, string | PresentedObject>> {
    const objects = await this.#controls.store.contents(bucketName(bucket), prefix);
    return Object.fromEntries(
      objects.map((object) => {
        const presented = presentObject(object);
        return [object.key, metadata ? presented : presented.content];
      }),
    );
  }

  /** Remembers how buckets and DNS are now. */
  async snapshot(): Promise<Snapshot> {
    this.#snapshot = { layer: await this.layers.open({ snapshot: true }) };
    return this.#snapshot;
  }

  /**
   * Back to how things were at a snapshot of this test: at the last one, if none is given.
   * Snapshots that were taken after it are gone.
   */
  async restore(snapshot: Snapshot | undefined = this.#snapshot): Promise<void> {
    if (snapshot === undefined) throw new Error("There is no snapshot: take one with snapshot().");
    this.#snapshot = snapshot;
    await this.layers.restore(snapshot.layer);
  }

  /** Snapshots end with the test that took them. */
  forgetSnapshots(): void {
    this.#snapshot = undefined;
  }
}

/** A state to come back to, until the test ends. */
export interface Snapshot {
  readonly layer: number;
}

function throwIf(problem: string | null): void {
  if (problem !== null) throw new Error(problem);
}

function bucketName(bucket: BucketReference): string {
  if (typeof bucket === "string") return bucket;
  const name = (bucket as { "ledge:name"?: string })["ledge:name"];
  if (name !== undefined) return name;
  throw new TypeError("This is no bucket: give its name, or its binding (env.PHOTOS).");
}

async function toSeedObject(key: string, value: SeedValue): Promise<SeedObject> {
  if (!isDescribed(value)) return { key, bytes: await toBytes(value) };
  const { httpMetadata, customMetadata, storageClass } = value;
  const { cacheExpiry, ...http } = httpMetadata ?? {};
  return {
    key,
    bytes: await toBytes(value.value),
    http: { ...http, ...(cacheExpiry !== undefined && { cacheExpiry: cacheExpiry.getTime() }) },
    custom: customMetadata ?? {},
    ...(storageClass !== undefined && { storageClass }),
  };
}

function isDescribed(value: SeedValue): value is DescribedValue {
  return typeof value === "object" && "value" in value;
}

async function toBytes(value: Exclude<SeedValue, DescribedValue>): Promise<Uint8Array> {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  }
  return new Uint8Array(await value.arrayBuffer());
}
