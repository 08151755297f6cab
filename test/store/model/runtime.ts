/** The binding under test: Miniflare with the built plugin and the script of `script.ts`. */
import { readdir, readFile, rm, mkdtemp } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Miniflare } from "miniflare";

import { findRuntimeProcess, readProcess } from "../../support/processes.ts";
import { isMark } from "../../support/store.ts";
import { bucketEntry, type BucketEntryOptions } from "../../support/worker.ts";
import {
  emptyMemory,
  type Call,
  type Json,
  type Memory,
  type Operation,
  type Outcome,
  type ScriptRequest,
  type ScriptResponse,
} from "./operation.ts";

/** The modules of the script, which run in workerd without their types. */
const mainModule = "script.ts";
const modules = {
  [mainModule]: new URL("./script.ts", import.meta.url),
  "execute.ts": new URL("./execute.ts", import.meta.url),
  "decode.ts": new URL("./decode.ts", import.meta.url),
  "describe.ts": new URL("./describe.ts", import.meta.url),
  "content.ts": new URL("./content.ts", import.meta.url),
};

/** Bindings of the script: two of Ledge, with and without the trailing delimiter, and one of R2. */
export const bindings = {
  ours: "STORE",
  oursWithTrailingDelimiter: "STORE_TRAILING",
  theirs: "R2",
} as const;

export type Binding = (typeof bindings)[keyof typeof bindings];

type MiniflareOptions = ConstructorParameters<typeof Miniflare>[0];

/** Options of the two bindings of Ledge. */
type BucketOptions = Record<"STORE" | "STORE_TRAILING", BucketEntryOptions>;

const localBuckets: BucketOptions = {
  STORE: { bucket_name: "plain" },
  STORE_TRAILING: { bucket_name: "trailing" },
};

/** Less than the limits of tests, which say nothing of the runtime. A request takes seconds on a busy machine. */
const answerMilliseconds = 100_000;
const probeMilliseconds = 5_000;

export class Runtime {
  readonly #folder: string;
  readonly #buckets: BucketOptions;
  #miniflare: Miniflare | undefined;
  readonly #memories = new Map<Binding, Memory>();
  /** All uploads since the bucket was last emptied: `empty()` aborts them. */
  readonly #uploads = new Map<Binding, Memory["uploads"]>();
  #silence: Promise<string> | undefined;

  private constructor(folder: string, buckets: BucketOptions) {
    this.#folder = folder;
    this.#buckets = buckets;
  }

  /** Starts a runtime on an empty folder. */
  static async start(buckets: BucketOptions = localBuckets): Promise<Runtime> {
    const runtime = new Runtime(await mkdtemp(join(tmpdir(), "ledge-model-")), buckets);
    try {
      await runtime.#start();
    } catch (error) {
      await runtime.stop();
      throw error;
    }
    return runtime;
  }

  async #start(): Promise<void> {
    this.#miniflare = new Miniflare(await miniflareOptions(this.#folder, this.#buckets));
    await this.#miniflare.ready;
  }

  /** Stops the runtime and starts another on the same folder. */
  async restart(): Promise<void> {
    await this.#miniflare?.dispose();
    await this.#start();
  }

  async stop(): Promise<void> {
    try {
      await this.#miniflare?.dispose();
    } finally {
      await rm(this.#folder, { recursive: true, force: true });
    }
  }

  /** Runs operations. The executor's memory lasts until the bucket is emptied. */
  async run(binding: Binding, operations: readonly Operation[]): Promise<Outcome[][]> {
    const memory = this.#memories.get(binding) ?? emptyMemory();
    const answer = await this.#ask({ binding, operations, memory });
    this.#memories.set(binding, answer.memory);
    this.#recordUploads(binding, answer.outcomes);
    return answer.outcomes;
  }

  /** Deletes all objects and aborts all uploads, through the binding. */
  async empty(binding: Binding): Promise<void> {
    const uploads = this.#uploads.get(binding) ?? {};
    const memory = { ...emptyMemory(), uploads };
    const aborts = Object.keys(uploads).map((slot): Call => ({
      method: "abort",
      args: [],
      slot: Number(slot),
      resume: true,
    }));
    const list: Call = { method: "list", args: [{}], follow: true };
    const { outcomes } = await this.#ask({ binding, operations: [...aborts, list], memory });
    const deletes = listedKeys(outcomes.at(-1)?.[0]).map((key): Call => ({
      method: "delete",
      args: [key],
    }));
    const after = await this.#ask({ binding, operations: [...deletes, list], memory });
    const left = listedKeys(after.outcomes.at(-1)?.[0]);
    const errors = [...outcomes, ...after.outcomes].flat().filter((outcome) => "error" in outcome);
    if (left.length > 0 || errors.length > 0) {
      throw new Error(`Cannot empty ${binding}: ${JSON.stringify({ left, errors })}`);
    }
    this.#memories.delete(binding);
    this.#uploads.delete(binding);
  }

  /** After a request without an answer, all requests fail at once. */
  async #ask(request: ScriptRequest): Promise<ScriptResponse> {
    if (this.#silence !== undefined) throw new Error(await this.#silence);
    try {
      return await this.#send(request, answerMilliseconds);
    } catch (error) {
      if ((error as Error).name !== "TimeoutError") throw error;
      throw new Error(await (this.#silence ??= this.#describeSilence(request)), { cause: error });
    }
  }

  async #send(request: ScriptRequest, milliseconds: number): Promise<ScriptResponse> {
    if (this.#miniflare === undefined) throw new Error("The runtime was not started");
    const response = await this.#miniflare.dispatchFetch("http://localhost/", {
      method: "POST",
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(milliseconds),
    });
    if (!response.ok) throw new Error(`The script failed: ${await response.text()}`);
    return (await response.json()) as ScriptResponse;
  }

  /** Which bindings answer, and whether the process of the runtime is stopped, waits or computes. */
  async #describeSilence({ binding, operations }: ScriptRequest): Promise<string> {
    const head = { operations: [{ method: "head", args: ["a"] } as Call], memory: emptyMemory() };
    const probes = Object.values(bindings).map((each) =>
      this.#send({ binding: each, ...head }, probeMilliseconds).then(
        () => `${each} answers`,
        (error: Error) => `${each} does not answer (${error.name})`,
      ),
    );
    const processId = findRuntimeProcess(this.#folder);
    const ticks = readProcess(processId)?.processorTicks ?? NaN;
    const answers = (await Promise.all(probes)).join(", ");
    const { state, processorTicks = NaN } = readProcess(processId) ?? {};
    return (
      `${binding} did not answer ${JSON.stringify(operations)} in ${answerMilliseconds} ms. Now ${answers}. ` +
      `The runtime is in state ${state}, and has computed for ${processorTicks - ticks} ticks meanwhile.`
    );
  }

  #recordUploads(binding: Binding, outcomes: readonly Outcome[][]): void {
    const uploads = this.#uploads.get(binding) ?? {};
    this.#uploads.set(binding, uploads);
    for (const outcome of outcomes.flat()) {
      const value = "value" in outcome ? (outcome.value as { uploadId?: Json } | null) : null;
      if (typeof value?.uploadId !== "string") continue;
      uploads[Object.keys(uploads).length] = value as { key: string; uploadId: string };
    }
  }

  /** All files in the folder of large values. */
  async blobFiles(): Promise<string[]> {
    const folder = join(this.#folder, "store", "blobs");
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
    return names.filter((name) => !isMark(name));
  }
}

function listedKeys(outcome: Outcome | undefined): string[] {
  if (outcome === undefined || "error" in outcome) return [];
  const pages = outcome.value as { objects: { key: string }[] }[];
  return pages.flatMap(({ objects }) => objects.map(({ key }) => key));
}

async function miniflareOptions(
  folder: string,
  { STORE, STORE_TRAILING }: BucketOptions,
): Promise<MiniflareOptions> {
  const stripped = await Promise.all(
    Object.entries(modules).map(async ([name, url]) => {
      const contents = stripTypeScriptTypes(await readFile(url, "utf8"));
      return [name, { type: "esm", contents }];
    }),
  );
  return {
    resourcePersistencePath: folder,
    workers: [
      {
        config: {
          name: "model",
          compatibilityDate: "2026-08-01",
          manifest: { mainModule, modules: Object.fromEntries(stripped) },
          env: {
            [bindings.ours]: bucketEntry(STORE),
            [bindings.oursWithTrailingDelimiter]: bucketEntry({
              ...STORE_TRAILING,
              compatibility_flags: ["store_list_trailing_delimiter"],
            }),
            [bindings.theirs]: { type: "r2", name: "photos" },
          },
        },
      },
    ],
  };
}
