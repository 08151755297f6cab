/** Runs operations on a bucket: on the model in Node, on the binding and on R2 in workerd. */
import { decode, partName, type DecodeContext } from "./decode.ts";
import {
  describeBody,
  describeObject,
  describePage,
  type AnyObject,
  type AnyObjectBody,
  type AnyPage,
} from "./describe.ts";
import type { Call, Encoded, Json, Memory, Operation, Outcome } from "./operation.ts";

/** Arguments are `unknown` on purpose: the tests pass bad arguments too. */
export interface AnyBucket {
  head(...args: unknown[]): Promise<AnyObject | null>;
  get(...args: unknown[]): Promise<AnyObject | AnyObjectBody | null>;
  put(...args: unknown[]): Promise<AnyObject | null>;
  delete(...args: unknown[]): Promise<void>;
  list(...args: unknown[]): Promise<AnyPage>;
  createMultipartUpload(...args: unknown[]): Promise<AnyUpload>;
  resumeMultipartUpload(...args: unknown[]): AnyUpload;
}

export interface AnyUpload {
  readonly key: string;
  readonly uploadId: string;
  uploadPart(...args: unknown[]): Promise<{ partNumber: number; etag: string }>;
  complete(...args: unknown[]): Promise<AnyObject>;
  abort(...args: unknown[]): Promise<void>;
}

/** No generated list has more pages. A longer list means that the cursor does not advance. */
const pagesMax = 500;

export class Executor {
  readonly #bucket: AnyBucket;
  readonly #context: DecodeContext;
  readonly #memory: Memory;
  /** Uploads that this executor created: these need no resume. */
  readonly #uploads = new Map<string, AnyUpload>();

  constructor(bucket: AnyBucket, context: DecodeContext) {
    this.#bucket = bucket;
    this.#context = context;
    this.#memory = context.memory;
  }

  async run(operations: readonly Operation[]): Promise<Outcome[][]> {
    const outcomes: Outcome[][] = [];
    for (const operation of operations) {
      const calls = "together" in operation ? operation.together : [operation];
      // Decoding is asynchronous. It happens before the first call, so the calls share one turn.
      const prepared = await Promise.all(
        calls.map(async (call) => ({ call, args: await this.#decodeArguments(call.args) })),
      );
      outcomes.push(await Promise.all(prepared.map(({ call, args }) => this.#attempt(call, args))));
    }
    return outcomes;
  }

  async #decodeArguments(args: readonly Encoded[]): Promise<unknown[]> {
    return Promise.all(args.map((argument) => decode(argument, this.#context)));
  }

  async #attempt(call: Call, args: unknown[]): Promise<Outcome> {
    try {
      return { value: await this.#methods[call.method](args, call) };
    } catch (error) {
      if (!(error instanceof Error)) return { error: { name: "not an Error", message: "" } };
      if (call.anyError) return { error: { name: "any", message: "any" } };
      return { error: { name: error.constructor.name, message: error.message } };
    }
  }

  readonly #methods: Record<Call["method"], (args: unknown[], call: Call) => Promise<Json>> = {
    head: async (args) => describeNullable(await this.#bucket.head(...args)),
    get: async (args, { read }) => {
      const object = await this.#bucket.get(...args);
      const description = describeNullable(object);
      if (object === null || !("body" in object) || object.body === undefined) return description;
      const { platform } = this.#context;
      return [description, await describeBody(object, { read, platform })];
    },
    put: async (args) => this.#rememberObject(await this.#bucket.put(...args)),
    delete: async (args) => {
      const result: unknown = await this.#bucket.delete(...args);
      for (const key of [args[0]].flat()) delete this.#memory.objects[String(key).toWellFormed()];
      return describeNothing(result);
    },
    list: (args, call) => this.#list(call, args),
    createMultipartUpload: async (args, { slot }) => {
      const upload = await this.#bucket.createMultipartUpload(...args);
      if (slot !== undefined) this.#rememberUpload(slot, upload);
      return { key: upload.key, uploadId: upload.uploadId };
    },
    resumeMultipartUpload: async (args) => {
      const { key, uploadId } = this.#bucket.resumeMultipartUpload(...args);
      return { key, uploadId };
    },
    uploadPart: async (args, call) => {
      const { partNumber, etag } = await this.#upload(call).uploadPart(...args);
      (this.#memory.parts[partName(call.slot ?? 0, partNumber)] ??= []).push(etag);
      return { partNumber, etag };
    },
    complete: async (args, call) =>
      this.#rememberObject(await this.#upload(call).complete(...args)),
    abort: async (args, call) => describeNothing(await this.#upload(call).abort(...args)),
  };

  async #list(call: Call, args: unknown[]): Promise<Json> {
    const { slot } = call;
    const pages: AnyPage[] = [];
    let [options] = args;
    for (;;) {
      const page = await this.#bucket.list(...(pages.length === 0 ? args : [options]));
      pages.push(page);
      if (slot !== undefined) delete this.#memory.cursors[slot];
      if (slot !== undefined && page.cursor !== undefined) this.#memory.cursors[slot] = page.cursor;
      if (!call.follow || !page.truncated || pages.length === pagesMax) break;
      options = { ...(options as object | undefined), cursor: page.cursor };
    }
    return (call.merge ? [mergePages(pages)] : pages).map(describePage);
  }

  #rememberObject(object: AnyObject | null): Json {
    if (object !== null) {
      const { key, etag, uploaded } = object;
      this.#memory.objects[key] = { etag, uploaded: uploaded.getTime() };
    }
    return describeNullable(object);
  }

  #rememberUpload(slot: number, upload: AnyUpload): void {
    const { key, uploadId } = upload;
    this.#memory.uploads[slot] = { key, uploadId };
    this.#uploads.set(uploadId, upload);
    for (const name of Object.keys(this.#memory.parts)) {
      if (name.startsWith(partName(slot, 0).slice(0, -1))) delete this.#memory.parts[name];
    }
  }

  #upload({ slot = 0, resume, underKey }: Call): AnyUpload {
    const { key, uploadId } = this.#memory.uploads[slot] ?? {
      key: "never created",
      uploadId: "never-created",
    };
    const created = this.#uploads.get(uploadId);
    if (created !== undefined && !resume && underKey === undefined) return created;
    return this.#bucket.resumeMultipartUpload(underKey ?? key, uploadId);
  }
}

function describeNullable(object: AnyObject | null): Json {
  return object === null ? null : describeObject(object);
}

function mergePages(pages: readonly AnyPage[]): AnyPage {
  return {
    objects: pages.flatMap(({ objects }) => objects),
    delimitedPrefixes: pages.flatMap(({ delimitedPrefixes }) => delimitedPrefixes),
    truncated: pages.at(-1)?.truncated ?? false,
  };
}

function describeNothing(result: unknown): Json {
  return result === undefined ? null : "not undefined";
}
