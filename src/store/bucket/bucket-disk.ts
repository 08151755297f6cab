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
import {
  problemOf,
  type DiskProblem,
  DiskSpace,
  FilePresence,
  validMilliseconds,
} from "../../state/disk.ts";
import {
  bytesCarried,
  type Operation,
  type Outcome,
  refusedOutcome,
  areReads,
  needsSpace,
  storesFile,
} from "../core/operations.ts";
import type { RefusedWrites } from "./bucket.ts";
import { isNew } from "./migration.ts";

export interface DiskBindings {
  /** The folder of the databases. */
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

/** What one bucket of this isolate finds out about the device holds for all. */
let sharedSpace: DiskSpace | undefined;

export function storeSpace({ databases, place }: DiskBindings): DiskSpace {
  if (sharedSpace === undefined) {
    sharedSpace = new DiskSpace({
      disk: databases,
      folder: place.folder,
      randomName: () => crypto.randomUUID(),
      fillRandom: (bytes) => void crypto.getRandomValues(bytes),
    });
    sharedSpace.isFull = place.isFull;
  }
  return sharedSpace;
}

/** How long after the first write the reserve is written: the first calls are faster without. */
const reserveDelayMilliseconds = 1000;
let hasReserve = false;

/** The address of a bucket's database at the disk service. */
export function databaseUrl({ place }: DiskBindings, id: DurableObjectId): string {
  return `http://databases/${place.namespace}/${id.toString()}.sqlite`;
}

/** The file of a bucket's database. */
export function databasePath({ place }: DiskBindings, id: DurableObjectId): string {
  return `${place.folder}/databases/${place.namespace}/${id.toString()}.sqlite`;
}

/** What to tell callers of a bucket whose database SQLite cannot open. */
export function unreadableText(bucketName: string, path: string): string {
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
  /** The file of the bucket's database. */
  readonly #url: string;
  readonly #space: DiskSpace;
  readonly #presence: FilePresence;
  #formatProblem: DiskProblem | null = null;
  #lookScheduled = false;

  constructor(ctx: DurableObjectState, env: DiskBindings, name: string) {
    const { databases, place } = env;
    this.#ctx = ctx;
    this.#databases = databases;
    this.#url = databaseUrl(env, ctx.id);
    this.#name = name;
    this.#path = databasePath(env, ctx.id);
    this.#space = storeSpace(env);
    this.#presence = new FilePresence({
      exists: () => fileExists(databases, this.#url),
      now: () => Date.now(),
      folder: place.folder,
    });
  }

  /** Whether batches can be executed without a question about the disk. */
  get isGood(): boolean {
    return !this.#space.isFull && this.#presence.removedText === null;
  }

  get isFull(): boolean {
    return this.#space.isFull;
  }

  get removedProblem(): DiskProblem | null {
    const { removedText } = this.#presence;
    return removedText === null ? null : problemOf(removedText);
  }

  /** Opens the database. Returns why this is not possible, or `null`. */
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

  /**
   * Executes the operations that the disk allows, and refuses the others.
   *
   * @param isKnown the batch is a repetition, and gets the outcomes of its first execution
   * @param execute executes the batch
   */
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
      return hasRoomInside && !storesFile(operation) ? null : refusedOutcome(problem);
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
    if (!hasReserve) this.#writeReserveSoon();
    if (this.#presence.isDue) return false;
    if (!reads) {
      this.#presence.countUnconfirmed();
      this.#scheduleLook();
    }
    return true;
  }

  /**
   * Looks whether the database still exists. The request waits until earlier writes are durable.
   *
   * @returns why the batch is not acknowledged, or `null`
   */
  async confirm(): Promise<DiskProblem | null> {
    const text = await this.#presence.look();
    return text === null ? null : problemOf(text);
  }

  /** Writes that are acknowledged without a look are looked after even if no call follows. */
  #scheduleLook(): void {
    if (this.#lookScheduled) return;
    this.#lookScheduled = true;
    const look = scheduler.wait(validMilliseconds).then(async () => {
      this.#lookScheduled = false;
      if (!this.#presence.hasUnconfirmed || this.removedProblem !== null) return;
      const problem = await this.#presence.look();
      if (problem !== null) console.error(`Bucket "${this.#name}": ${problem}`);
    });
    this.#ctx.waitUntil(look);
  }

  #writeReserveSoon(): void {
    hasReserve = true;
    const write = scheduler.wait(reserveDelayMilliseconds).then(() => this.#space.restoreReserve());
    this.#ctx.waitUntil(write);
  }
}

/** The outcome of an operation that is not executed. */
export function refuse({ method }: Operation, problem: DiskProblem): Outcome {
  return method === "checkDisk" ? { ok: true, value: { problem } } : refusedOutcome(problem);
}

function bytesNeeded(operation: Operation): number {
  return needsSpace(operation) ? bytesCarried(operation) : 0;
}

/** Whether a file of the disk service exists; `true` also when this cannot be found out. */
export async function fileExists(databases: Fetcher, url: string): Promise<boolean> {
  try {
    const response = await databases.fetch(url, { method: "HEAD" });
    return response.status !== 404;
  } catch {
    return true;
  }
}
