/** Fills a bucket for a test, and reads all of it, without faults and without recorded calls. */
import type { BlobDirectory } from "../content/blob-directory.ts";
import { openSlice } from "../content/content-reader.ts";
import { ContentWriter } from "../content/content-writer.ts";
import { requiredAlgorithms } from "../core/checksum.ts";
import type { FixtureObject, SeedObject } from "../core/fixture.ts";
import { listLimitMax } from "../core/limits.ts";
import { decodeObject, decodeObjects } from "../core/object-encoding.ts";
import type { ContentSlice, Operation, Outcome, Result } from "../core/operations.ts";
import type { BucketObject } from "./bucket-object.ts";

/** An RPC carries 32 MiB, and a value that is not in a file has at most 128 KiB. */
const operationsMax = 100;

export class BucketFixtures {
  readonly #bucket: DurableObjectStub<BucketObject>;
  readonly #blobs: BlobDirectory;
  readonly #writer: ContentWriter;

  constructor(bucket: DurableObjectStub<BucketObject>, blobs: BlobDirectory, runId: string) {
    this.#bucket = bucket;
    this.#blobs = blobs;
    this.#writer = new ContentWriter(blobs, runId);
  }

  /** Returns the text of an error, or `null`: the runtime would also log an exception. */
  async seed(objects: readonly SeedObject[]): Promise<string | null> {
    const puts = await Promise.all(
      objects.map(async ({ key, bytes, http = {}, custom = {}, storageClass = "Standard" }) => ({
        method: "put" as const,
        key,
        content: await this.#writer.write({ bytes }, requiredAlgorithms(undefined)),
        http,
        custom,
        storageClass,
      })),
    );
    const outcomes = await this.#execute(puts);
    const index = outcomes.findIndex(({ ok }) => !ok);
    const refused = outcomes[index];
    if (refused === undefined || refused.ok) return null;
    return `Cannot seed "${puts[index]?.key}": ${refused.text} (${refused.code})`;
  }

  /** The objects in the order of their keys. */
  async contents(prefix: string): Promise<FixtureObject[]> {
    const objects: FixtureObject[] = [];
    for (let cursor: string | undefined; ;) {
      const [listed] = (await this.#execute([
        {
          method: "list",
          prefix,
          delimiter: "",
          limit: listLimitMax,
          includeHttp: false,
          includeCustom: false,
          ...(cursor !== undefined && { cursor }),
        },
      ])) as [Outcome<"list">];
      if (!listed.ok) throw new Error(`Cannot list a bucket: ${listed.text}`);
      const keys = decodeObjects(listed.value.objectsJson, { http: false, custom: false }).map(
        ({ key }) => key,
      );
      const gets = await this.#execute(keys.map((key) => ({ method: "get", key })));
      for (const [index, outcome] of gets.entries()) {
        const key = keys[index] as string;
        const found = outcome.ok ? (outcome.value as Result<"get">) : null;
        if (found?.status !== "found") continue;
        const { http, custom } = decodeObject(key, found.object);
        objects.push({ key, bytes: await this.#read(found.content), http, custom });
      }
      ({ cursor } = listed.value);
      if (cursor === undefined) return objects;
    }
  }

  async #read(content: readonly ContentSlice[]): Promise<Uint8Array> {
    const parts = await Promise.all(
      content.map(async (slice) => new Response(await openSlice(this.#blobs, slice)).bytes()),
    );
    return new Blob(parts).bytes();
  }

  async #execute(operations: Operation[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (let start = 0; start < operations.length; start += operationsMax) {
      const batch = operations.slice(start, start + operationsMax);
      outcomes.push(...((await this.#bucket.executeUnobserved(batch)) as Outcome[]));
    }
    return outcomes;
  }
}
