/**
 * Clients that call a few keys at the same time, and the history of their calls. The test's process
 * reads the clock before and after each call, so all times are of one clock.
 *
 * A value is the etag of its bytes, the MD5 hash. Each write has bytes of its own.
 */
import { createHash } from "node:crypto";
import { expect, onTestFinished } from "vitest";
import { bytesOf } from "../../support/bytes.ts";
import { callScript, isUnsent } from "./http-call.ts";
import { reportFigures } from "./figures.ts";
import {
  describeContradiction,
  findContradiction,
  type Action,
  type Call,
  type Value,
} from "./linearizability.ts";
import type { NodeBucket } from "./node-bucket.ts";
import type { SeededRandom } from "./seed.ts";
import { waitUntil } from "./wait.ts";

/** A bucket as a client of the history sees it. */
export interface HistoryBucket {
  /** `null` when the object does not exist. */
  get(key: string): Promise<{ etag: string; body: Uint8Array } | null>;
  /** @returns whether the condition holds */
  put(key: string, body: Uint8Array<ArrayBuffer>, condition?: { value: Value }): Promise<boolean>;
  delete(key: string): Promise<void>;
}

/** Sizes of an inline value and of a file. */
const sizes = [60, 60, 60, 150_000];
/** Calls of a key, before the clients take the next key. */
const callsPerKey = 150;

export class History {
  readonly calls: Call[] = [];
  /** Reads whose bytes do not have the hash of their etag. */
  readonly wrong: string[] = [];
  readonly #name: string;
  readonly #random: SeededRandom;
  readonly #hasDeletes: boolean;
  readonly #keys: { name: string; calls: number }[];
  /** By key: a value that some client has seen last, for conditions. */
  readonly #seen = new Map<string, Value>();
  #running: Promise<void>[] = [];
  #stopping = false;
  #count = 0;
  /** Of calls without an answer. */
  readonly errors: Error[] = [];

  /** @param name distinguishes the keys from those of other histories */
  constructor(name: string, random: SeededRandom, { keyCount = 3, hasDeletes = true } = {}) {
    this.#name = name;
    this.#random = random;
    this.#hasDeletes = hasDeletes;
    this.#keys = Array.from({ length: keyCount }, () => this.#newKey());
    onTestFinished(() => this.stop());
  }

  get lastError(): Error | undefined {
    return this.errors.at(-1);
  }

  /** Calls that were answered, by client. */
  answered(client: string): number {
    return this.calls.filter((call) => call.client === client && call.end !== Infinity).length;
  }

  /** Starts a client, which calls until `stop()`. */
  start(client: string, bucket: HistoryBucket): void {
    this.#stopping = false;
    this.#running.push(
      (async () => {
        while (!this.#stopping) {
          if (await this.#callOnce(client, bucket)) continue;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })(),
    );
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running);
    this.#running = [];
  }

  #newKey(): { name: string; calls: number } {
    return { name: `${this.#name}-${this.#count++}`, calls: 0 };
  }

  #pickKey(): string {
    const key = this.#random.pick(this.#keys);
    if (++key.calls >= callsPerKey) this.#leave(key.name);
    return key.name;
  }

  /** Calls without an answer make the search for an order long: few may have the same key. */
  #leave(name: string): void {
    const index = this.#keys.findIndex((key) => key.name === name);
    if (index !== -1) this.#keys[index] = this.#newKey();
  }

  /** @returns whether the call was answered */
  async #callOnce(client: string, bucket: HistoryBucket): Promise<boolean> {
    const key = this.#pickKey();
    const chance = this.#random.next();
    if (chance < 0.4) return this.#get(client, key, bucket);
    if (chance < 0.5 && this.#hasDeletes) {
      return this.#record(client, key, { method: "delete", applied: null }, async () => {
        await bucket.delete(key);
        this.#seen.set(key, null);
        return { method: "delete", applied: true };
      });
    }
    const body = bytesOf(
      this.#random.pick(sizes),
      this.#random.integer(1, 2 ** 30) + this.#count++,
    );
    const value = md5(body);
    const condition = chance < 0.85 ? { value: this.#seen.get(key) ?? null } : undefined;
    const put = { method: "put" as const, value, ...(condition !== undefined && { condition }) };
    return this.#record(client, key, { ...put, applied: null }, async () => {
      const applied = await bucket.put(key, body, condition);
      if (applied) this.#seen.set(key, value);
      return { ...put, applied };
    });
  }

  /** A read without an answer says nothing, and is left out. */
  async #get(client: string, key: string, bucket: HistoryBucket): Promise<boolean> {
    const start = performance.now();
    try {
      const object = await bucket.get(key);
      const end = performance.now();
      const found = object?.etag ?? null;
      this.#seen.set(key, found);
      this.calls.push({ client, key, start, end, method: "get", found });
      if (object !== null && md5(object.body) !== object.etag) {
        this.wrong.push(`${client} read ${object.body.length} wrong bytes of ${key}`);
      }
      return true;
    } catch (error) {
      this.errors.push(error as Error);
      return false;
    }
  }

  async #record(
    client: string,
    key: string,
    unknown: Action,
    run: () => Promise<Action>,
  ): Promise<boolean> {
    const start = performance.now();
    try {
      const action = await run();
      this.calls.push({ client, key, start, end: performance.now(), ...action });
      return true;
    } catch (error) {
      this.errors.push(error as Error);
      if (isUnsent(error)) return false;
      this.calls.push({ client, key, start, end: Infinity, ...unknown });
      this.#leave(key);
      return false;
    }
  }
}

/** Waits until each client has this many more answers. */
export async function waitForAnswers(
  history: History,
  clients: readonly string[],
  count: number,
): Promise<void> {
  const targets = clients.map((client) => history.answered(client) + count);
  await waitUntil(
    () => clients.every((client, index) => history.answered(client) >= (targets[index] as number)),
    () =>
      `answers: ${clients.map((client) => `${client} ${history.answered(client)}`).join(", ")}; ` +
      `last error: ${history.lastError?.message}`,
    240_000,
  );
}

/** Stops the clients. Fails if the history fits no order, or if a read had wrong bytes. */
export async function expectLinearizable(
  history: History,
  figures: string,
  kills = 0,
): Promise<void> {
  await history.stop();
  expect(history.wrong).toEqual([]);
  const contradiction = findContradiction(history.calls);
  expect(contradiction && describeContradiction(contradiction)).toBeNull();
  reportFigures(figures, { kills, acknowledged: history.calls.length });
}

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("hex");
}

/** The bucket of a tool's script. `url` is asked at every call: a restart may change it. */
export function scriptBucket(url: () => string): HistoryBucket {
  return {
    async get(key) {
      const { status, headers, body } = await callScript(`${url()}/${key}`);
      return status === 404 ? null : { etag: headers["x-etag"] as string, body };
    },
    async put(key, body, condition) {
      const etag = condition?.value;
      const query = etag === undefined ? "" : etag === null ? "?absent" : `?match=${etag}`;
      const answer = await callScript(`${url()}/${key}${query}`, { method: "PUT", body });
      return (JSON.parse(answer.body.toString()) as { etag: Value }).etag !== null;
    },
    async delete(key) {
      await callScript(`${url()}/${key}`, { method: "DELETE" });
    },
  };
}

/** The bucket of a Node process with `getPlatformProxy()`. */
export function nodeBucket(bucket: () => NodeBucket): HistoryBucket {
  return {
    async get(key) {
      const { etag, body } = await bucket().call({ method: "get", key });
      if (typeof etag !== "string") return null;
      return { etag, body: Buffer.from(body as string, "base64") };
    },
    async put(key, body, condition) {
      const call = { method: "put" as const, key, body: Buffer.from(body).toString("base64") };
      const { etag } = await bucket().call(
        condition === undefined ? call : { ...call, condition: condition.value },
      );
      return etag !== null;
    },
    async delete(key) {
      await bucket().call({ method: "delete", key });
    },
  };
}
