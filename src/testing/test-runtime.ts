/**
 * A runtime as tests control it: its clock, faults, calls, contents of buckets, DNS, snapshots.
 *
 * The class is the same for tests beside the script in workerd (`ledge/test`, `index.ts`) and for
 * tests in Node (`node.ts`).
 */
import { toMilliseconds, type Duration } from "../base/format.ts";
import {
  type FixtureObject,
  type SeedObject,
  type Call,
  describeFaults,
  describeInjectedFault,
  describeUnused,
  failEffect,
  makeStoreFault,
  slowEffect,
  type FaultEffect,
  type FaultTarget,
  type InjectedFault,
} from "../store/core/fault.ts";
import type { StoreHTTPMetadata, StoreStorageClass } from "../types/store.ts";
import {
  describeBindingFault,
  type BindingFaultOptions,
  type BindingFaultTarget,
  type InjectedBindingFault,
} from "./binding-fault.ts";
import type { Controls } from "./controls.ts";
import { DnsZones } from "./dns-zones.ts";
import type { KnownNames } from "./call-details.ts";
import { IsolationLayers } from "./isolation-layers.ts";

/** The name of a bucket, or its binding. */
export type BucketReference = string | object;

export type SeedValue = string | ArrayBuffer | ArrayBufferView | Blob | DescribedValue;

export interface DescribedValue {
  value: string | ArrayBuffer | ArrayBufferView | Blob;
  httpMetadata?: StoreHTTPMetadata;
  customMetadata?: Record<string, string>;
  storageClass?: StoreStorageClass;
}

/** An object as assertions and inline snapshots show it: readable, and the same in every run. */
export interface PresentedObject {
  /** The content as text, or a description of bytes that are not text */
  readonly content: string;
  readonly httpMetadata: Record<string, string>;
  readonly customMetadata: Record<string, string>;
}

/** The size of one call of `seed`. */
const seedCountMax = 500;
const seedBytesMax = 8 * 1024 * 1024;

export class TestRuntime {
  readonly layers: IsolationLayers;
  readonly #controls: Controls;
  #snapshot: Snapshot | undefined;

  constructor(controls: Controls) {
    this.#controls = controls;
    this.layers = new IsolationLayers(controls);
    this.dns = new DnsZones(() => {
      const { dns } = controls;
      if (dns === undefined) {
        throw new Error("The worker has no DNS: add testBindings() to its env.");
      }
      // Queries change the log of queries.
      this.layers.touch("dns");
      return dns;
    }, controls);
  }

  /** The clock of the store. The end of the test undoes moves of the clock. */
  readonly clock = {
    now: async (): Promise<Date> => new Date(await this.#controls.store.now()),
    set: async (time: Date | string | number): Promise<void> => {
      const wanted = new Date(time).getTime();
      if (!Number.isFinite(wanted)) throw new TypeError(`"${String(time)}" is not a valid time.`);
      await this.#advance(wanted - (await this.#controls.store.now()));
    },
    /** Moves the clock, and executes what becomes due: uploads expire, alarms run. */
    advance: (duration: Duration): Promise<void> => this.#advance(toMilliseconds(duration)),
  };

  async #advance(milliseconds: number): Promise<void> {
    this.layers.touch("store", "dns");
    const { store, dns, session } = this.#controls;
    const move = async (by: number): Promise<void> => {
      await Promise.all([store.advance(by), dns?.advanceClock(by)]);
      session?.moveDate(by);
    };
    await (session?.alarms?.advance(milliseconds, move) ?? move(milliseconds));
  }

  /** Injected faults. The end of the test or suite that sets a fault removes it. */
  readonly faults = {
    /** Calls fail: of a bucket with 10001, an internal error, by default. */
    fail: (
      target: (FaultTarget | BindingFaultTarget) & { code?: number; text?: string } = {},
    ): Promise<void> =>
      this.#arm(target, { ...target, kind: "fail" }, () => failEffect(target.code, target.text)),
    /** Calls take longer. */
    slow: (target: (FaultTarget | BindingFaultTarget) & { by: Duration }): Promise<void> =>
      this.#arm(target, { ...target, kind: "slow" }, () => slowEffect(target.by)),
    /** Calls lose their connection: a `get` of a bucket after half of its body, other calls before they execute. */
    drop: (
      target: (FaultTarget & { afterBytes?: number }) | BindingFaultTarget = {},
    ): Promise<void> =>
      this.#arm(target, { kind: "drop" }, () => {
        const { afterBytes } = target as { afterBytes?: number };
        return { kind: "drop", afterBytes: afterBytes ?? null };
      }),
    clear: async (): Promise<void> => {
      this.#controls.session?.clearFaults();
      await this.#controls.store.disarmFaults();
    },
    /** What faults did to the calls of this test, in the order of the calls: of buckets, then of other bindings. */
    injected: async (): Promise<readonly (InjectedFault | InjectedBindingFault)[]> => [
      ...(await this.#controls.store.injectedFaults()),
      ...(this.#controls.session?.injected ?? []),
    ],
  };

  /** The faults of this test, for the report of its failure; empty if it has none. */
  async describeFaults(): Promise<string> {
    const { store, session } = this.#controls;
    const [injected, unused, queries] = await Promise.all([
      store.injectedFaults(),
      store.unusedFaults(),
      this.dns.faults.describe(),
    ]);
    const lines = [
      ...injected.map(describeInjectedFault),
      ...(session?.injected ?? []).map(describeBindingFault),
    ];
    const reports = [describeFaults(lines, [...unused, ...(session?.unused ?? [])]), queries];
    return reports.filter((report) => report !== "").join("\n\n");
  }

  /** A line for each fault that the test or suite of a layer has set, and that hit no call. */
  async unusedFaults(layer: number): Promise<string[]> {
    const { store, session } = this.#controls;
    const own = session?.faultsOf(layer);
    if (own === undefined) return [];
    const { faults, storeFaults, dnsFaults } = own;
    const unused = faults.flatMap((fault) => fault.unused ?? []);
    if (storeFaults.size > 0) {
      const ofStore = await store.unusedFaults();
      unused.unshift(...ofStore.filter(({ id }) => id !== undefined && storeFaults.has(id)));
    }
    const ofDns = dnsFaults === 0 ? [] : await this.dns.faults.unused(dnsFaults);
    return [...unused.map(describeUnused), ...ofDns];
  }

  readonly dns: DnsZones;

  /** @param bucketEffect for a fault of buckets: one that names neither another binding nor SQL */
  async #arm(
    target: FaultTarget | BindingFaultTarget,
    options: BindingFaultOptions,
    bucketEffect: () => FaultEffect,
  ): Promise<void> {
    const { store, session } = this.#controls;
    const { binding, ...rest } = target as BindingFaultTarget;
    const bucket = session?.bucketNames.get(binding ?? "");
    if (bucket !== undefined || (binding === undefined && !("sql" in target))) {
      const wanted = bucket === undefined ? target : { ...rest, bucket };
      // The store counts the calls that the fault hits, also reads.
      this.layers.touchAlways("store");
      const fault = makeStoreFault(wanted as FaultTarget, bucketEffect());
      throwIf(await store.armFault({ ...fault, id: session?.addStoreFault() }));
    } else if (session === undefined) {
      throw new Error(
        "Faults of bindings other than buckets exist in the vitest pool alone: name a bucket.",
      );
    } else {
      session.arm(target, options);
    }
  }

  /** The names of calls in the vitest pool: the store knows the buckets of the runtime's other workers. */
  async knownNames(): Promise<KnownNames> {
    const { store, session } = this.#controls;
    const bucketOfBinding = session?.bucketNames ?? new Map<string, string>();
    const buckets = [...(await store.bucketNames()), ...bucketOfBinding.values()];
    return { buckets: [...new Set(buckets)], bucketOfBinding, kinds: session?.kinds ?? new Map() };
  }

  /** The calls of all scripts of the runtime since `watchCalls()`. */
  async calls(): Promise<readonly Call[]> {
    return this.#controls.store.calls();
  }

  /** The next calls of the other workers of the runtime. Waits for a call, and at most some seconds. */
  nextCalls(): Promise<readonly Call[]> {
    return this.#controls.store.nextCalls();
  }

  async watchCalls(): Promise<void> {
    await this.#controls.store.watchCalls();
  }

  async seed(bucket: BucketReference, objects: Record<string, SeedValue>): Promise<void> {
    const name = bucketName(bucket);
    let batch: SeedObject[] = [];
    let bytes = 0;
    for (const [key, value] of Object.entries(objects)) {
      const object = await toSeedObject(key, value);
      if (batch.length >= seedCountMax || bytes + object.bytes.length > seedBytesMax) {
        await this.#seed(name, batch);
        [batch, bytes] = [[], 0];
      }
      batch.push(object);
      bytes += object.bytes.length;
    }
    await this.#seed(name, batch);
  }

  async #seed(bucket: string, objects: readonly SeedObject[]): Promise<void> {
    this.layers.touch("store");
    throwIf(await this.#controls.store.seed(bucket, objects));
  }

  async seedFolder(bucket: BucketReference, path: string): Promise<void> {
    this.layers.touch("store");
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
    if (typeof objects === "string") throw new Error(objects);
    return Object.fromEntries(
      objects.map((object) => {
        const presented = presentObject(object);
        return [object.key, metadata ? presented : presented.content];
      }),
    );
  }

  /** Takes a snapshot of the state of all bindings. */
  async snapshot(): Promise<Snapshot> {
    this.#snapshot = { layer: await this.layers.open({ snapshot: true }) };
    return this.#snapshot;
  }

  /**
   * Restores a snapshot of this test: the last snapshot by default. Removes the snapshots that were
   * taken after it.
   */
  async restore(snapshot: Snapshot | undefined = this.#snapshot): Promise<void> {
    if (snapshot === undefined) throw new Error("There is no snapshot: take one with snapshot().");
    this.#snapshot = snapshot;
    await this.layers.restore(snapshot.layer);
  }

  /** Called when a test begins: a snapshot ends with its test. */
  forgetSnapshots(): void {
    this.#snapshot = undefined;
  }
}

/** A state that `restore()` returns to, until the test ends. */
export interface Snapshot {
  readonly layer: number;
}

function throwIf(problem: string | null): void {
  if (problem !== null) throw new Error(problem);
}

function bucketName(bucket: BucketReference): string {
  if (typeof bucket === "string") return bucket;
  const hidden = bucket as { "ledge:name"?: string; "ledge:remote"?: boolean };
  const name = hidden["ledge:name"];
  if (hidden["ledge:remote"] === true) {
    throw new TypeError(
      `The bucket "${name}" is on an S3 service: seed() and contents() are for buckets in the state folder. ` +
        "Use put() and list() of the binding.",
    );
  }
  if (name !== undefined) return name;
  throw new TypeError("The value is not a bucket: give its name, or its binding (env.PHOTOS).");
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
    storageClass,
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

/** Of longer text, only the beginning and the size are shown. */
const textLengthMax = 2000;

export function presentObject({ bytes, http, custom }: FixtureObject): PresentedObject {
  const { cacheExpiry, ...fields } = http;
  return {
    content: presentBytes(bytes),
    httpMetadata: {
      ...fields,
      ...(cacheExpiry !== undefined && { cacheExpiry: new Date(cacheExpiry).toISOString() }),
    },
    customMetadata: { ...custom },
  };
}

function presentBytes(bytes: Uint8Array): string {
  const text = decodeText(bytes);
  if (text === null) {
    const start = Array.from(bytes.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0"));
    return `<${bytes.length} bytes: ${start.join(" ")}${bytes.length > 8 ? " …" : ""}>`;
  }
  return text.length <= textLengthMax
    ? text
    : `${text.slice(0, textLengthMax)}… <${bytes.length} bytes>`;
}

function decodeText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    // Control characters other than white space: the bytes are UTF-8 by chance.
    // oxlint-disable-next-line no-control-regex -- control characters are intended
    return /[\u0000-\u0008\u000e-\u001f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}
