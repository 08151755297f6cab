/**
 * The interface through which tests control a store: its clock, layers of isolation, faults,
 * recorded calls, and objects that tests put and read without a script. A binding of type
 * `store_control` leads to this entrypoint.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { BlobDirectory, openSlice } from "../client/blob-directory.ts";
import {
  type FixtureObject,
  type SeedObject,
  unknownBucketText,
  type InjectedFault,
  type StoreFault,
  type UnusedFault,
  type Call,
} from "../core/fault.ts";
import { awakeBuckets, type BucketObject } from "./bucket-object.ts";
import { storeClock, storeTestSession } from "./test-session.ts";
import { ContentWriter } from "../client/content-writer.ts";
import { requiredAlgorithms } from "../core/checksum.ts";
import { listLimitMax } from "../core/limits.ts";
import { decodeObject, decodeObjects } from "../core/object.ts";
import type { ContentSlice, ObjectRecord, Operation, Outcome, Result } from "../core/operations.ts";

interface ControlEnv {
  readonly buckets: DurableObjectNamespace<BucketObject>;
  readonly blobs: Fetcher;
  /** The project's folder, if the binding has one, and the content types of its files */
  readonly project?: Fetcher;
  readonly contentTypes?: ContentTypes;
  readonly runId: string;
  readonly bucketNames: readonly string[];
}

export class StoreControl extends WorkerEntrypoint<ControlEnv> {
  now(): number {
    return storeClock.now();
  }

  /** Moves the clock of all buckets, and does the housekeeping that becomes due. */
  async advance(milliseconds: number): Promise<void> {
    if (!Number.isFinite(milliseconds)) {
      throw new TypeError(`Cannot advance the clock by ${milliseconds}: give milliseconds.`);
    }
    storeClock.offsetMilliseconds += milliseconds;
    await this.#housekeep();
  }

  async resetClock(): Promise<void> {
    storeClock.offsetMilliseconds = 0;
    await this.#housekeep();
  }

  /** Opens a layer: writes from now on are undone when the layer is closed. */
  openLayer(layer: number, snapshot = false): void {
    storeTestSession.open(layer, snapshot);
  }

  /** Closes a layer and the layers above it, undoes their writes, and opens the layer `next`. */
  async closeLayer(layer: number, next?: number): Promise<void> {
    const buckets = storeTestSession.close(layer);
    await Promise.all(buckets.map((name) => this.env.buckets.getByName(name).leaveLayer(layer)));
    if (next !== undefined) storeTestSession.open(next, false);
  }

  /** Returns the text of an error, or `null`. */
  armFault(fault: StoreFault): string | null {
    const { bucket } = fault;
    const problem = bucket === null ? null : this.#refuse(bucket, "the fault would hit no call");
    if (problem === null) storeTestSession.arm(fault);
    return problem;
  }

  /** The local buckets of all scripts of the runtime. */
  bucketNames(): readonly string[] {
    return this.env.bucketNames;
  }

  #refuse(bucketName: string, consequence?: string): string | null {
    const { bucketNames } = this.env;
    return bucketNames.includes(bucketName)
      ? null
      : unknownBucketText(bucketName, bucketNames, consequence);
  }

  disarmFaults(): void {
    storeTestSession.disarm();
  }

  injectedFaults(): readonly InjectedFault[] {
    return storeTestSession.injectedFaults;
  }

  unusedFaults(): readonly UnusedFault[] {
    return storeTestSession.unusedFaults;
  }

  watchCalls(): void {
    storeTestSession.recordCalls();
  }

  calls(): readonly Call[] {
    return storeTestSession.calls;
  }

  /** The next calls of scripts that the test does not observe: see `test-session.ts`. */
  nextCalls(): Promise<readonly Call[]> {
    storeTestSession.activate();
    return storeTestSession.feed.next();
  }

  /**
   * Puts objects into a bucket, without faults and without recorded calls.
   *
   * @returns the text of an error, or `null`: the runtime would also log an exception
   */
  async seed(bucketName: string, objects: readonly SeedObject[]): Promise<string | null> {
    const problem = this.#refuse(bucketName);
    if (problem !== null) return problem;
    const writer = new ContentWriter(this.#blobs(bucketName), this.env.runId);
    const puts = await Promise.all(
      objects.map(async ({ key, bytes, http = {}, custom = {}, storageClass = "Standard" }) => ({
        method: "put" as const,
        key,
        content: await writer.write({ bytes }, requiredAlgorithms(undefined)),
        http,
        custom,
        storageClass,
      })),
    );
    const outcomes = await this.#execute(bucketName, puts);
    const index = outcomes.findIndex(({ ok }) => !ok);
    const refused = outcomes[index];
    if (refused === undefined || refused.ok) return null;
    return `Cannot seed "${puts[index]?.key}": ${refused.text} (${refused.code})`;
  }

  /** `seed`, with the files of a folder of the project. */
  async seedFolder(bucketName: string, path: string): Promise<string | null> {
    const refused = this.#refuse(bucketName);
    if (refused !== null) return refused;
    const { project, contentTypes = {} } = this.env;
    if (project === undefined) {
      return `Cannot read "${path}": this runtime has no access to a project's folder.`;
    }
    const keys = await listProjectFiles(project, path);
    if (keys === null) {
      return (
        `Cannot seed a bucket from "${path}": the project has no such folder. ` +
        "Give a path relative to the folder of the configuration file."
      );
    }
    for await (const objects of readProjectFiles(project, path, keys, contentTypes)) {
      const problem = await this.seed(bucketName, objects);
      if (problem !== null) return problem;
    }
    return null;
  }

  /**
   * All objects in the order of their keys, read without faults and without recorded calls.
   *
   * @returns the text of an error, if no script has the bucket
   */
  async contents(bucketName: string, prefix: string): Promise<FixtureObject[] | string> {
    const problem = this.#refuse(bucketName);
    if (problem !== null) return problem;
    const objects: FixtureObject[] = [];
    const include = { includeHttp: false, includeCustom: false };
    const list = {
      method: "list",
      prefix,
      delimiter: "",
      limit: listLimitMax,
      ...include,
    } as const;
    for (let cursor: string | undefined; ;) {
      const listed = await this.#execute(bucketName, [{ ...list, cursor }]);
      const [page] = listed as [Outcome<"list">];
      if (!page.ok) throw new Error(`Cannot list a bucket: ${page.text}`);
      const rows = decodeObjects(page.value.objectsJson, { http: false, custom: false });
      const gets = rows.map(({ key }) => ({ method: "get" as const, key }));
      for (const [index, outcome] of (await this.#execute(bucketName, gets)).entries()) {
        const { key } = rows[index] as ObjectRecord;
        const found = outcome.ok ? (outcome.value as Result<"get">) : null;
        if (found?.status !== "found") continue;
        const { http, custom } = decodeObject(key, found.object);
        const bytes = await this.#read(bucketName, found.content);
        objects.push({ key, bytes, http, custom });
      }
      ({ cursor } = page.value);
      if (cursor === undefined) return objects;
    }
  }

  collectGarbage(bucketName: string): Promise<number> {
    return this.env.buckets.getByName(bucketName).collectGarbage();
  }

  /** Ends the objects of buckets, which the runtime does not end together with the others (`preventEviction`). */
  async abortBuckets(): Promise<void> {
    const names = [...awakeBuckets];
    awakeBuckets.clear();
    await Promise.allSettled(names.map((name) => this.env.buckets.getByName(name).abort()));
  }

  async #housekeep(): Promise<void> {
    await Promise.all(
      Array.from(awakeBuckets, (name) => this.env.buckets.getByName(name).housekeep()),
    );
  }

  #blobs(bucketName: string): BlobDirectory {
    return new BlobDirectory(this.env.blobs, bucketName);
  }

  async #read(bucketName: string, content: readonly ContentSlice[]): Promise<Uint8Array> {
    const blobs = this.#blobs(bucketName);
    const parts = await Promise.all(
      content.map(async (slice) => new Response(await openSlice(blobs, slice)).bytes()),
    );
    return new Blob(parts).bytes();
  }

  async #execute(bucketName: string, operations: Operation[]): Promise<Outcome[]> {
    const bucket = this.env.buckets.getByName(bucketName);
    const outcomes: Outcome[] = [];
    for (let start = 0; start < operations.length; start += operationsMax) {
      const batch = operations.slice(start, start + operationsMax);
      outcomes.push(...((await bucket.executeUnobserved(batch)) as Outcome[]));
    }
    return outcomes;
  }
}

/** An RPC carries 32 MiB, and a value that is not in a file has at most 128 KiB. */
const operationsMax = 100;

const filesMax = 64;

/** By file extension. Node supplies the table, because a script starts faster without it. */
type ContentTypes = Readonly<Record<string, string>>;

/** The paths of the files below a folder, relative to it; `null` if the folder does not exist. */
async function listProjectFiles(disk: Fetcher, path: string): Promise<string[] | null> {
  const response = await disk.fetch(urlOf(path));
  if (!response.ok || !response.headers.get("content-type")?.includes("json")) {
    await response.body?.cancel();
    return null;
  }
  const entries = await response.json<{ name: string; type: string }[]>();
  const nested = await Promise.all(
    entries
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(async ({ name, type }) => {
        if (type !== "directory") return [name];
        const below = (await listProjectFiles(disk, `${path}/${name}`)) ?? [];
        return below.map((file) => `${name}/${file}`);
      }),
  );
  return nested.flat();
}

/** Reads files as objects: the key is the path, the extension determines the content type. */
async function* readProjectFiles(
  disk: Fetcher,
  path: string,
  keys: readonly string[],
  contentTypes: ContentTypes,
): AsyncGenerator<SeedObject[]> {
  for (let start = 0; start < keys.length; start += filesMax) {
    yield await Promise.all(
      keys.slice(start, start + filesMax).map(async (key) => {
        const response = await disk.fetch(urlOf(`${path}/${key}`));
        const extension = key.slice(key.lastIndexOf(".") + 1).toLowerCase();
        return {
          key,
          bytes: await response.bytes(),
          ...(Object.hasOwn(contentTypes, extension) && {
            http: { contentType: contentTypes[extension] as string },
          }),
        };
      }),
    );
  }
}

function urlOf(path: string): string {
  const segments = path.split("/").map(encodeURIComponent);
  return `http://project/${segments.join("/")}`.replaceAll(/(?<!:)\/{2,}/g, "/");
}
