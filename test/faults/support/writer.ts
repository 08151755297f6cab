/**
 * Writers whose every acknowledged write a test can check after a crash.
 *
 * A writer has keys of its own and one call in flight. When a call fails, its effect is unknown: the
 * object may have the value before or after the call. The writer then leaves this key and continues
 * with a new one, so that at most the last write of a key is unknown.
 */
import { createHash } from "node:crypto";
import { onTestFinished } from "vitest";
import { bytesOf } from "../../support/bytes.ts";
import { callScript, isUnsent } from "./http-call.ts";
import type { SeededRandom } from "./seed.ts";

/** The value of an object: the hash of its bytes, or `null` when it does not exist. */
export type Value = string | null;

type WriteMethod = "put" | "delete" | "upload" | "abort" | "put if";

export interface Write {
  readonly method: WriteMethod;
  readonly key: string;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** The value of the object after the write. */
  readonly value: Value;
  /** The condition of a conditional put; `null`: the object must not exist. */
  readonly match?: string | null;
}

interface Register {
  /** After the last acknowledged write. */
  value: Value;
  etag: string | null;
  /** Of all values that the writer sent. */
  readonly hashes: Set<string>;
  /** The write whose answer did not arrive. */
  unknown?: Write;
}

/** Executes a write. Resolves with the new etag when the write is acknowledged. */
export type Execute = (write: Write) => Promise<string | null>;

/** An inline value, a value over a page, and two files. */
const sizesDefault = [40, 6_000, 140_000, 200_000];
const keysPerWriter = 3;

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export class Writer {
  readonly name: string;
  readonly registers = new Map<string, Register>();
  readonly #random: SeededRandom;
  readonly #execute: Execute;
  readonly #sizes: readonly number[];
  readonly #active: string[] = [];
  #generation = 0;
  #count = 0;
  #stopping = false;
  #answersCount = true;
  #running: Promise<void> | undefined;
  acknowledged = 0;
  failed = 0;
  lastError: Error | undefined;

  constructor(
    name: string,
    random: SeededRandom,
    execute: Execute,
    sizes: readonly number[] = sizesDefault,
  ) {
    this.name = name;
    this.#sizes = sizes;
    this.#random = random;
    this.#execute = execute;
    onTestFinished(() => this.stop());
    for (let index = 0; index < keysPerWriter; index++) this.#active.push(this.#newKey());
  }

  /** Writes until `stop()`, or until `failuresMax` calls have failed. */
  start({ failuresMax = Infinity, pauseMilliseconds = 0 } = {}): void {
    this.#stopping = false;
    this.#answersCount = true;
    this.#running = (async () => {
      for (let failures = 0; failures < failuresMax && !this.#stopping;) {
        if (!(await this.writeOnce())) {
          failures++;
          // A tool that is dead refuses thousands of calls a second.
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        if (pauseMilliseconds > 0) {
          await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
        }
      }
    })();
  }

  /** @param isPowerLost whether the answer to the write in flight would no longer leave the machine */
  async stop({ isPowerLost = false } = {}): Promise<void> {
    this.#stopping = true;
    this.#answersCount = !isPowerLost;
    await this.#running;
  }

  /** @returns whether the write was acknowledged */
  async writeOnce(): Promise<boolean> {
    const index = this.#random.integer(0, keysPerWriter - 1);
    const key = this.#active[index] as string;
    const write = this.#choose(key);
    const register = this.registers.get(key) as Register;
    if (write.value !== null) register.hashes.add(write.value);
    try {
      const etag = await this.#execute(write);
      if (!this.#answersCount) throw new Error("The power was lost before the answer arrived.");
      this.acknowledged++;
      // An aborted upload changes nothing, and a conditional put of this writer's key succeeds.
      if (write.method !== "abort") {
        register.value = write.value;
        register.etag = etag;
      }
      return true;
    } catch (error) {
      this.failed++;
      this.lastError = error as Error;
      if (isUnsent(error)) return false;
      register.unknown = write;
      this.#active[index] = this.#newKey();
      return false;
    }
  }

  #newKey(): string {
    const key = `${this.name}/${this.#generation++}`;
    this.registers.set(key, { value: null, etag: null, hashes: new Set() });
    return key;
  }

  #choose(key: string): Write {
    const { etag, value } = this.registers.get(key) as Register;
    const chance = this.#random.next();
    if (chance < 0.12) return { method: "delete", key, value: null };
    const seed = this.#random.integer(1, 2 ** 30) + this.#count++;
    const body = bytesOf(this.#random.pick(this.#sizes), seed);
    if (chance < 0.16) return { method: "abort", key, body, value };
    const next = { key, body, value: hashOf(body) };
    if (chance < 0.3) return { method: "upload", ...next };
    return chance < 0.5 ? { method: "put if", ...next, match: etag } : { method: "put", ...next };
  }
}

/** Writes through the script of a tool. `url` is asked at every call: a restart may change it. */
export function throughScript(url: () => string): Execute {
  return async ({ method, key, body, match }) => {
    const query = {
      put: "",
      "put if": match === null ? "?absent" : `?match=${match}`,
      delete: "",
      upload: "?upload",
      abort: "?upload&abort",
    }[method];
    const answer = await callScript(`${url()}/${encodeURIComponent(key)}${query}`, {
      method: method === "delete" ? "DELETE" : "PUT",
      ...(body !== undefined && { body }),
    });
    const { etag } = JSON.parse(answer.body.toString()) as { etag: string | null };
    if (etag === null && method === "put if") {
      throw new Error(`${method} ${key}: the condition does not hold, but no other writer exists`);
    }
    return etag;
  };
}
