/**
 * What the disk allows a bucket to do.
 *
 * When a commit fails, workerd ends the bucket object, and the callers of all its batches get an
 * error that does not say why. A caller then sends `checkDisk` (`client/batch.ts`) to the
 * new object. If the disk is full, the isolate remembers this: from then on puts are refused
 * before they write, reads write nothing, and deletes get the space of the reserve
 * (`state/disk.ts`). A put, a delete, `checkDisk` and a call of a bucket without tables look
 * whether there is space again.
 *
 * A removed folder is noticed by `state/disk.ts`. The bucket then refuses everything.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { problemOf, type DiskProblem } from "../../state/disk-problem.ts";
import { DatabaseFile, spaceOfIsolate, type DiskSpace } from "../../state/disk.ts";
import {
  bytesCarried,
  type DiskQuestion,
  type Operation,
  type Outcome,
  refusedOutcome,
  areReads,
  needsSpace,
  blobsOf,
} from "../core/operations.ts";
import type { RefusedWrites } from "./bucket.ts";
import { isNew } from "./schema.ts";

export interface DiskBindings {
  readonly databases: Fetcher;
  readonly place: {
    /** The path of the store's folder, for messages. */
    readonly folder: string;
    /** The folder of the buckets' databases. */
    readonly namespace: string;
    /** Whether the device was full at the start. */
    readonly isFull: boolean;
  };
}

function storeSpace({ databases, place }: DiskBindings): DiskSpace {
  return spaceOfIsolate({ disk: databases, ...place });
}

export function databaseUrl({ place }: DiskBindings, id: DurableObjectId): string {
  return `http://databases/${place.namespace}/${id.toString()}.sqlite`;
}

export function databasePath({ place }: DiskBindings, id: DurableObjectId): string {
  return `${place.folder}/databases/${place.namespace}/${id.toString()}.sqlite`;
}

/** What to tell callers of a bucket whose database SQLite cannot open. */
function unreadableText(bucketName: string, path: string): string {
  return (
    `Cannot open the database of bucket "${bucketName}", ${path}: SQLite cannot read the file. ` +
    `Nothing was removed. Run "ledge store check ${bucketName}" to see the damage, and restore ` +
    "the file from a backup."
  );
}

export class BucketDisk {
  readonly #ctx: DurableObjectState;
  readonly #name: string;
  readonly #path: string;
  readonly #databases: Fetcher;
  readonly #url: string;
  readonly #space: DiskSpace;
  readonly #file: DatabaseFile;
  #formatProblem: DiskProblem | null = null;

  constructor(ctx: DurableObjectState, env: DiskBindings, name: string) {
    this.#ctx = ctx;
    this.#databases = env.databases;
    this.#url = databaseUrl(env, ctx.id);
    this.#name = name;
    this.#path = databasePath(env, ctx.id);
    this.#space = storeSpace(env);
    this.#file = new DatabaseFile(this.#space, this.#url, (work) => ctx.waitUntil(work));
  }

  /** Whether batches can be executed without a question about the disk. */
  get isGood(): boolean {
    return !this.#space.isFull && this.#file.removedText === null;
  }

  get isFull(): boolean {
    return this.#space.isFull;
  }

  get removedProblem(): DiskProblem | null {
    const { removedText } = this.#file;
    return removedText === null ? null : problemOf(removedText);
  }

  openingProblem(open: () => void): DiskProblem | null {
    // To create the tables is a write.
    if (this.#space.isFull && isNew(this.#ctx.storage.sql)) return this.#space.fullProblem;
    if (this.#formatProblem !== null) return this.#formatProblem;
    try {
      open();
      return null;
    } catch (error) {
      const { message } = error as Error;
      if (!message.includes("SQLITE_")) {
        console.error(message);
        return (this.#formatProblem = problemOf(message));
      }
      console.error(`Cannot open the database of bucket "${this.#name}":`, message);
      return problemOf(unreadableText(this.#name, this.#path));
    }
  }

  /** For a bucket without tables, which take space: executes the operations if there is space again. */
  async executeWithSpace(
    operations: readonly Operation[],
    execute: () => Outcome[] | Promise<Outcome[]>,
  ): Promise<Outcome[]> {
    const problem = await this.#space.findProblem();
    return problem === null ? execute() : operations.map((operation) => refuse(operation, problem));
  }

  /** @param isKnown the batch is a repetition, and gets the outcomes of its first execution */
  async executeAdmitted(
    operations: readonly Operation[],
    isKnown: boolean,
    execute: (refused: RefusedWrites) => Outcome[] | Promise<Outcome[]>,
  ): Promise<Outcome[]> {
    const bytes = isKnown ? 0 : operations.reduce((sum, each) => sum + bytesNeeded(each), 0);
    const problem = bytes === 0 ? null : await this.findProblem(bytes);
    const hasRoomInside = problem !== null && (await this.#hasRoomInside(bytes));
    const outcomeOf = (operation: Operation): Outcome | null => {
      if (problem === null || !needsSpace(operation)) return null;
      // A file of a put that is refused is removed. It may have taken the space of the reserve.
      return hasRoomInside && blobsOf(operation).length === 0 ? null : refusedOutcome(problem);
    };
    const areAll = areReads(operations.filter((operation) => outcomeOf(operation) === null));
    const needsReserve = this.#space.isFull && !areAll;
    if (needsReserve) await this.#space.releaseReserve();
    const outcomes = await execute({ outcomeOf, areAll });
    if (needsReserve) this.#ctx.waitUntil(this.#space.findProblem());
    return outcomes;
  }

  /** Why the disk does not accept a write of so many bytes, or `null`. */
  async findProblem(bytes: number): Promise<DiskProblem | null> {
    return (await this.confirm()) ?? this.#space.findProblem(bytes);
  }

  /**
   * Whether the database has free pages for so many bytes. Deleted values leave such pages, and
   * the file does not become smaller: on a full disk, values that are stored in the database can
   * be replaced by others.
   */
  async #hasRoomInside(bytes: number): Promise<boolean> {
    if (!this.#space.isFull || this.removedProblem !== null) return false;
    const response = await this.#databases.fetch(this.#url, { method: "HEAD" });
    const fileBytes = Number(response.headers.get("content-length"));
    return fileBytes - this.#ctx.storage.sql.databaseSize > 2 * bytes;
  }

  /** Whether a batch can be answered at once; otherwise `confirm()` comes first. */
  confirmAtOnce(reads: boolean): boolean {
    return this.#file.confirmAtOnce(reads);
  }

  /**
   * Looks whether the database still exists. The request waits until earlier writes are durable.
   *
   * @returns why the batch is not acknowledged, or `null`
   */
  async confirm(): Promise<DiskProblem | null> {
    const text = await this.#file.look();
    return text === null ? null : problemOf(text);
  }
}

export function refuse({ method }: Operation, problem: DiskProblem): Outcome {
  return method === "checkDisk" ? { ok: true, value: { problem } } : refusedOutcome(problem);
}

function bytesNeeded(operation: Operation): number {
  return needsSpace(operation) ? bytesCarried(operation) : 0;
}

interface StoreDiskEnv extends DiskBindings {
  readonly buckets: DurableObjectNamespace;
  /** In the runtime of a client: the buckets are in the runtime of the owner. */
  readonly owner?: Fetcher;
}

/**
 * The store's disk, for clients whose bucket does not answer: workerd opens the database before the
 * bucket object exists. To open a database takes space, so on a full disk a request gives up the
 * reserve, and then the bucket opens. If the disk is in order, the database is damaged.
 */
export class StoreDisk extends WorkerEntrypoint<StoreDiskEnv> {
  override async fetch(request: Request): Promise<Response> {
    const { bucketName, bytes } = await request.json<DiskQuestion>();
    const space = storeSpace(this.env);
    const problem = await space.findProblem(bytes);
    if (space.isFull) await space.releaseReserve();
    if (problem !== null || this.env.owner !== undefined) return Response.json(problem);
    const path = databasePath(this.env, this.env.buckets.idFromName(bucketName));
    return Response.json(problemOf(unreadableText(bucketName, path)));
  }
}
