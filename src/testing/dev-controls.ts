/**
 * The controls of `ledge/test` for a dev server of this process. They reach its store as other
 * processes do, so they work while the script reloads, and after a restart of the runtime: faults and the clock are
 * held by a connection to the owner of the store, and calls are asked for there.
 *
 * A dev server has no isolation layers. `RunningDev.state` undoes what a test does.
 */
import { setTimeout as delay } from "node:timers/promises";
import { mapConcurrent } from "../base/concurrency.ts";
import { UserError } from "../base/user-error.ts";
import type { FollowedCalls } from "../store/client/message.ts";
import {
  unknownBucketText,
  type Call,
  type FixtureObject,
  type SeedObject,
  type StoreFault,
} from "../store/core/fault.ts";
import { StoreError } from "../store/core/errors.ts";
import { fetchObject, listPages } from "../store/node/bucket-objects.ts";
import { chunksOf, type Bucket } from "../store/node/bucket.ts";
import { OwnerFaults } from "../store/node/held-faults.ts";
import { LocalBuckets } from "../store/node/local-bucket.ts";
import type { Controls, DnsControlStub } from "./controls.ts";

/** What the controls need of a dev server. */
export interface ServedParts {
  readonly storeFolder: string;
  /** The buckets of the configuration that are in the state folder. */
  readonly bucketNames: () => readonly string[];
  /** The record API; `null` while DNS does not run here. */
  readonly dns: () => Promise<{
    readonly apiUrl: string;
    readonly headers: Readonly<Record<string, string>>;
  } | null>;
}

export interface DevControls extends Controls {
  /** Ends the faults, moves the clock back, and begins new lists of calls and of queries. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Faults do not hit calls of this name, and they are no calls of a test. */
const clientName = "explorer";
/** The owner records calls for 10 seconds after a question. */
const followMilliseconds = 4_000;
/** A runtime that restarts takes faults as soon as it listens. */
const patienceMilliseconds = 20_000;
const concurrency = 32;

export function devControls(parts: ServedParts): DevControls {
  const buckets = new LocalBuckets(parts.storeFolder, { clientName, succeeds: false });
  const faults = new TestFaults(parts.storeFolder);
  const calls = new TestCalls(buckets);
  const dns = new ServedDns(parts);
  const refuse = (name: string, consequence?: string): string | null => {
    const names = parts.bucketNames();
    return names.includes(name) ? null : unknownBucketText(name, names, consequence);
  };
  const hasBuckets = (): boolean => parts.bucketNames().length > 0;
  const watchCalls = async (): Promise<void> => {
    if (hasBuckets()) await calls.begin();
  };
  return {
    dns,
    store: {
      now: async () => (await faults.owner.report())?.storeTime ?? Date.now(),
      advance: (by) => faults.change(() => void (faults.offsetMilliseconds += by)),
      async armFault(fault) {
        // Without buckets no name is known, not even that of a fault for all.
        const name = fault.bucket ?? (hasBuckets() ? null : "*");
        const problem = name === null ? null : refuse(name, "the fault would hit no call");
        if (problem === null) await faults.change(() => faults.arm(fault));
        return problem;
      },
      disarmFaults: () => faults.change(() => void (faults.armed = [])),
      injectedFaults: async () => (await faults.owner.report())?.injected ?? [],
      unusedFaults: async () => (await faults.owner.report())?.unused ?? [],
      watchCalls,
      calls: async () => (hasBuckets() ? calls.read() : []),
      bucketNames: async () => parts.bucketNames(),
      seed: async (name, objects) => refuse(name) ?? seed(buckets.bucket(name), objects),
      contents: async (name, prefix) => refuse(name) ?? contents(buckets.bucket(name), prefix),
      openLayer: refuseLayers,
      closeLayer: refuseLayers,
      // Of the vitest pool alone.
      resetClock: refuseLayers,
      seedFolder: refuseLayers,
      nextCalls: refuseLayers,
    },
    async clear() {
      const end = (): void => void ([faults.armed, faults.offsetMilliseconds] = [[], 0]);
      await Promise.all([faults.change(end), dns.clear()]);
      await watchCalls();
    },
    async close() {
      calls.close();
      await Promise.all([faults.owner.close(), dns.clear().catch(() => {})]);
      await buckets.close();
    },
  };
}

function refuseLayers(): Promise<never> {
  throw new UserError(
    "isolate(), snapshot() and restore() exist in the vitest pool and for a Miniflare. For a dev server, call " +
      "state.save() before the tests and reset() after each test.",
  );
}

/** @returns the text of an error, or `null` */
async function seed(bucket: Bucket, objects: readonly SeedObject[]): Promise<string | null> {
  let problem: string | null = null;
  await mapConcurrent(objects, concurrency, async (object) => {
    const { key, bytes, http = {}, custom = {}, storageClass = "Standard" } = object;
    const content = await bucket.write(chunksOf(bytes));
    const put = { method: "put", key, content, http, custom, storageClass } as const;
    await bucket.call(put).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      problem ??= `Cannot seed "${key}": ${error.message} (${error.code})`;
    });
  });
  return problem;
}

async function contents(bucket: Bucket, prefix: string): Promise<FixtureObject[]> {
  const found: FixtureObject[] = [];
  for await (const { objects } of listPages(bucket, { prefix })) {
    for (const { key } of objects) {
      await fetchObject(bucket, key, async ({ object: { http, custom }, content }) => {
        const chunks: Uint8Array[] = [];
        const parts = content instanceof Uint8Array ? [content] : content;
        for await (const chunk of parts) chunks.push(chunk.slice());
        found.push({ key, bytes: new Uint8Array(Buffer.concat(chunks)), http, custom });
      });
    }
  }
  return found;
}

/** The faults and the clock, as one connection to the owner holds them. */
class TestFaults {
  readonly owner: OwnerFaults;
  armed: StoreFault[] = [];
  offsetMilliseconds = 0;
  #changes: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.owner = new OwnerFaults(folder);
  }

  arm(fault: StoreFault): void {
    // The owner knows a fault by its text, and counts the calls of each.
    const others = this.armed.filter(({ text }) => text.startsWith(fault.text)).length;
    const text = others === 0 ? fault.text : `${fault.text} (${others + 1})`;
    this.armed.push({ ...fault, text });
  }

  /** @throws UserError when the owner does not take the faults */
  change(change: () => void): Promise<void> {
    const changed = this.#changes.then(() => {
      change();
      return this.#hold();
    });
    this.#changes = changed.catch(() => {});
    return changed;
  }

  async #hold(): Promise<void> {
    const [faults, clockOffsetMilliseconds] = [this.armed, Math.round(this.offsetMilliseconds)];
    const isUsual = faults.length === 0 && clockOffsetMilliseconds === 0;
    const held = { faults, latencyMilliseconds: 0, clockOffsetMilliseconds };
    await this.owner.hold(isUsual ? null : held);
    for (const end = Date.now() + patienceMilliseconds; this.owner.problem !== null;) {
      if (Date.now() > end) throw new UserError(this.owner.problem);
      await delay(10);
    }
  }
}

/** The calls of buckets since the test began. */
class TestCalls {
  readonly #buckets: LocalBuckets;
  #last: Pick<FollowedCalls, "run" | "last"> | null = null;
  #calls: Call[] = [];
  #asked: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(buckets: LocalBuckets) {
    this.#buckets = buckets;
  }

  async begin(): Promise<void> {
    await this.read();
    this.#calls = [];
    // A process does not go on for the sake of its tests.
    this.#timer ??= setInterval(() => void this.read().catch(() => {}), followMilliseconds).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async read(): Promise<readonly Call[]> {
    const asked = this.#asked.then(() => this.#ask());
    this.#asked = asked.catch(() => {});
    await asked;
    return [...this.#calls];
  }

  async #ask(): Promise<void> {
    const query = this.#last === null ? "" : `?run=${this.#last.run}&after=${this.#last.last}`;
    const text = await this.#buckets.owner.run((endpoint) =>
      endpoint.request(`/calls${query}`, { method: "GET" }),
    );
    this.#last = JSON.parse(text.toString()) as FollowedCalls;
    for (const followed of (this.#last as FollowedCalls).calls) {
      const { id: _id, at: _at, milliseconds: _ms, text: _text, client, ...call } = followed;
      const isOfObjects = call.method !== "createBucket" && call.method !== "deleteBucket";
      if (client !== clientName && isOfObjects) this.#calls.push(call as Call);
    }
  }
}

/** DNS by the record API of the dev server, whose controls are at `/ledge/…` (`worker/api/controls.ts`). */
class ServedDns implements DnsControlStub {
  readonly #parts: ServedParts;
  /** Whether there may be faults and a log of queries: DNS that starts on demand is not started to clear it. */
  #isUsed = false;
  readonly openLayer = refuseLayers;
  readonly closeLayer = refuseLayers;

  constructor(parts: ServedParts) {
    this.#parts = parts;
  }

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const access = await this.#parts.dns();
    if (access === null) {
      throw new UserError(
        "This dev server has no DNS: leave out `dns: false`, or end the process that has the zones of its state folder.",
      );
    }
    this.#isUsed = true;
    const { pathname, search } = new URL(url);
    const given = init.headers as Record<string, string>;
    // A connection that is kept would not outlive a restore, which starts DNS again.
    const headers = { ...given, ...access.headers, connection: "close" };
    return fetch(new URL(`${pathname}${search}`, access.apiUrl), { ...init, headers });
  }

  /** DNSSEC has the time of the machine: DNS is a process of its own. */
  async advanceClock(): Promise<void> {}

  async clear(): Promise<void> {
    for (const list of this.#isUsed ? ["query_faults", "dnssec_faults", "queries"] : []) {
      await (await this.fetch(`http://dns/ledge/${list}`, { method: "DELETE" })).arrayBuffer();
    }
    this.#isUsed = false;
  }
}
