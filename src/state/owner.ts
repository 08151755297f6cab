/**
 * The owner of a state folder. Store and DNS use the same rules.
 *
 * A Durable Object holds state in memory, and workerd does not wait for SQLite's locks: two
 * runtimes on one database overwrite each other's writes or fail at random
 * (`docs/decisions/0009-one-owner.md`). So one process owns the folder of a service, and all other
 * processes are its clients.
 *
 * **The lock decides.** The owner is the process that has the folder's lock (`lock.ts`). Nothing
 * else decides: no process id, no port that answers, no time of a file. The kernel releases the lock
 * when the owner dies. Its runtime ends then, too (`base/programs.ts`), but some milliseconds
 * later; the mark that the runtime holds (`base/open-mark.ts`) tells when.
 *
 * A process is in one of these states, for each folder:
 *
 *     client         is connected to the control socket of the owner (`OwnerLink`), sends requests to
 *                    the service's socket, and repeats a request whose answer is lost with the same
 *                    id (`repeat.ts`). It opens no database. It may read and write content files.
 *     taking over    has the lock, and waits until no runtime holds the mark, before it opens anything.
 *                    It answers no request yet.
 *     brief owner    has the lock and a runtime without a script (`own-runtime.ts`), because no other
 *                    process owned the folder. It gives the folder up when a client asks.
 *     owner          has the lock until its end: a dev server, or a Miniflare with a script.
 *
 *     client ──the link ends, and this process gets the lock──▶ taking over ──▶ (brief) owner
 *     client ◀──a process asks for the folder (`claimFolder()`)── brief owner
 *     (brief) owner ──its end──▶ the lock is free, the links of its clients end
 *
 * An owner that is stopped (SIGSTOP, a suspended container) keeps the lock and the databases: its clients
 * wait as long as that takes, and go on when it goes on. No process takes the folder from an owner that is
 * alive. A command says after ten seconds which process it waits for.
 *
 * A copied folder has a lock that no process holds, so its first user owns the copy, and the original goes on as before. The record
 * (`owner.json`) is for clients and for messages, and counts only beside the lock file that it names.
 *
 * Only a process that has the lock may open the databases, by its runtime. The commands `check` and `backup`
 * open them for reading beside that runtime, and change nothing. Only the owner writes the record and listens at the sockets of the
 * folder (`sockets.ts`). Only the bucket in the owner's runtime removes a content file that was stored: when
 * its row is deleted, or when no row names the file and the lock of the run that wrote it is free
 * (`runs.ts`). Every client may become the owner (`succession.ts`). The address of the service is the same
 * for every owner, and each owner remembers the outcomes of requests in the transaction of the write
 * (`outcomes.ts`), so a request that two owners receive is executed once.
 */
import { existsSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket, connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { checkpointDatabases } from "./checkpoint.ts";
import { fileIdentity, FileLock, isLocked } from "./lock.ts";
import { removeSocket, socketPath } from "./sockets.ts";
import { isMarkHeld, makeMark } from "../base/open-mark.ts";
import { makePrivateFolder, writeWhole } from "../base/private-files.ts";
import { isTable } from "../base/schema.ts";
import { UserError } from "../base/user-error.ts";
import { requireUsableFolder, savedLockPath, stateFolderOf, type FolderNeeds } from "./folder.ts";
import { removeEndedRuns } from "./runs.ts";

export interface OwnerRecord {
  /** For messages: the id means nothing in another PID namespace. */
  readonly processId: number;
  readonly namespace: string | null;
  readonly isBrief: boolean;
  /** Identifies the lock file: the record in a copied folder does not count. */
  readonly lock: string | null;
}

export interface OwnerOptions<Details extends object> {
  /** Whether the owner gives the folder up when a client asks. */
  readonly isBrief: boolean;
  /** Called when a client asks for the folder. Only for a brief owner. */
  readonly onHandover?: () => void;
  /** Called when a client needs the service of the owner, which may not have started it yet. */
  readonly onServiceRequest?: () => void;
  /** What the folder needs (`folder.ts`). */
  readonly needs?: FolderNeeds;
  /** Called when what earlier processes have left has ended. If it fails, the folder is given up. */
  readonly prepare?: () => void;
  /** What the record tells other processes beside the processes. */
  readonly details?: Details;
}

const controlSocket = "control";
/** The line by which a client asks a brief owner for the folder. */
const handoverLine = "handover";
/** The line by which a client asks an owner to start its service. */
const serviceLine = "serve";
const lockName = "lock";
const recordName = "owner.json";
const markName = "open";
const pollMilliseconds = 10;
/** A runtime ends some milliseconds after the process that has started it. */
const runtimeEndMilliseconds = 10_000;
/** The kernel closes the connections of a killed process before it releases the locks of the process. */
const clientEndMilliseconds = 200;

/** The FIFO that each runtime holds open which has the databases of a folder open. */
export function markPath(folder: string): string {
  return join(folder, markName);
}

export class FolderOwner<Details extends object = object> {
  readonly folder: string;
  readonly #lock: FileLock;
  readonly #lockId: string | null;
  readonly #options: OwnerOptions<Details>;
  readonly #connections = new Set<Socket>();
  #server: Server | undefined;
  #details: Partial<Details>;
  #isReleased = false;

  private constructor(folder: string, lock: FileLock, options: OwnerOptions<Details>) {
    this.folder = folder;
    this.#lock = lock;
    this.#lockId = fileIdentity(join(folder, lockName));
    this.#options = options;
    this.#details = options.details ?? {};
  }

  /**
   * Makes this process the owner, when the runtime of an earlier owner has ended. Returns `null` when the
   * folder has an owner.
   */
  static async tryTake<Details extends object = object>(
    folder: string,
    options: OwnerOptions<Details>,
  ): Promise<FolderOwner<Details> | null> {
    try {
      return await FolderOwner.#take(folder, options);
    } catch (error) {
      // The lock needs space, which the reserve has on a full device.
      if (!requireUsableFolder(folder, options.needs).isFull) throw error;
      return FolderOwner.#take(folder, options);
    }
  }

  static async #take<Details extends object>(
    folder: string,
    options: OwnerOptions<Details>,
  ): Promise<FolderOwner<Details> | null> {
    makePrivateFolder(folder);
    const lock = FileLock.tryTake(join(folder, lockName));
    if (lock === null) return null;
    const owner = new FolderOwner(folder, lock, options);
    try {
      await waitForRuntimes(folder);
      makeMark(markPath(folder));
      owner.#write();
      await owner.#listen();
      removeEndedRuns(folder);
      options.prepare?.();
      return owner;
    } catch (error) {
      owner.release();
      throw error;
    }
  }

  /** Adds to the record. */
  amend(details: Partial<Details>): void {
    this.#details = { ...this.#details, ...details };
    this.#write();
  }

  /** Gives the folder up. The runtimes must have ended. A second call does nothing. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#server?.close();
    // A folder that was removed meanwhile may exist again, with another owner.
    if (this.#lockId === fileIdentity(join(this.folder, lockName))) this.#leave();
    // First the lock, then the connections: a client that sees the end can take the lock.
    this.#lock.release();
    for (const connection of this.#connections) connection.destroy();
  }

  /** Leaves whole databases, and no file that tells of this process. */
  #leave(): void {
    const { folder } = this;
    if (this.#server !== undefined) removeSocket(socketPath(folder, controlSocket));
    if (!isMarkHeld(markPath(folder))) {
      // A process that saves or restores reads the files. The logs stay, and lose nothing.
      if (!isLocked(savedLockPath(stateFolderOf(folder)))) checkpointDatabases(folder);
      rmSync(markPath(folder), { force: true });
    }
    rmSync(join(folder, recordName), { force: true });
  }

  #write(): void {
    if (this.#isReleased) return;
    const record: OwnerRecord = {
      ...this.#details,
      processId: process.pid,
      namespace: pidNamespace(),
      isBrief: this.#options.isBrief,
      lock: this.#lockId,
    };
    writeWhole(join(this.folder, recordName), JSON.stringify(record));
  }

  #listen(): Promise<void> {
    const path = socketPath(this.folder, controlSocket);
    // An owner that was killed has left its sockets.
    removeSocket(path);
    const server = createServer((connection) => this.#accept(connection));
    this.#server = server;
    // A process that has nothing else to do ends, and the folder has no owner then.
    server.unref();
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
  }

  #accept(connection: Socket): void {
    const { isBrief, onHandover, onServiceRequest } = this.#options;
    this.#connections.add(connection);
    connection.unref();
    connection.on("error", () => {});
    connection.once("close", () => {
      this.#connections.delete(connection);
      setTimeout(() => removeEndedRuns(this.folder), clientEndMilliseconds).unref();
    });
    createInterface(connection).on("line", (line) => {
      if (line === handoverLine && isBrief) onHandover?.();
      if (line === serviceLine) onServiceRequest?.();
    });
  }
}

/**
 * Waits until no runtime has the databases open. The lock is free, so the runtime is of a process that
 * was killed, and ends.
 *
 * @throws UserError when the runtime does not end
 */
async function waitForRuntimes(folder: string): Promise<void> {
  const deadline = Date.now() + runtimeEndMilliseconds;
  while (isMarkHeld(markPath(folder))) {
    if (Date.now() > deadline) {
      throw new UserError(
        `Cannot use ${folder}: a runtime has its databases open and does not end, although no process ` +
          `has the folder's lock. The lock file was removed, or the runtime was left by a process that ` +
          `was killed. End the process that uses the folder, and try again: "fuser ${markPath(folder)}" ` +
          "shows the id of the runtime.",
      );
    }
    await delay(pollMilliseconds);
  }
}

/** `null` where there is no such namespace. */
function pidNamespace(): string | null {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return null;
  }
}

/** The record of the folder's owner; `null` when the file does not exist, or is not such a record. */
export function readOwnerRecord<Details extends object = object>(
  folder: string,
): (OwnerRecord & Partial<Details>) | null {
  try {
    const record: unknown = JSON.parse(readFileSync(join(folder, recordName), "utf8"));
    if (!isTable(record) || !Number.isInteger(record["processId"])) return null;
    const isOfFolder = record["lock"] === fileIdentity(join(folder, lockName));
    return isOfFolder && typeof record["isBrief"] === "boolean"
      ? (record as unknown as OwnerRecord & Partial<Details>)
      : null;
  } catch {
    return null;
  }
}

/** The owner, for a message. */
export function nameOwner(owner: OwnerRecord | null): string {
  if (owner === null) return "Another process";
  const { processId, namespace } = owner;
  return namespace === pidNamespace()
    ? `Process ${processId}`
    : `Process ${processId} of another container`;
}

/** The connection of a client to the owner of a folder. The end of the connection is the end of the owner. */
export class OwnerLink {
  /** Resolves when the owner has ended or has given the folder up, or after `close()`. */
  readonly ended: Promise<void>;
  readonly #connection: Socket;

  private constructor(connection: Socket) {
    this.#connection = connection;
    this.ended = new Promise((resolve) => connection.once("close", () => resolve()));
    connection.unref();
  }

  /**
   * Returns `null` when no process listens. Then the folder has no owner, or an owner that starts or
   * ends at this moment: the lock decides.
   */
  static async connect(folder: string): Promise<OwnerLink | null> {
    if (!existsSync(folder)) return null;
    const connection = connect(socketPath(folder, controlSocket));
    return new Promise((resolve) => {
      connection.once("connect", () => resolve(new OwnerLink(connection)));
      connection.on("error", () => resolve(null));
    });
  }

  /** Asks a brief owner for the folder. `ended` tells when the owner has given the folder up. */
  requestHandover(): void {
    this.#connection.write(`${handoverLine}\n`);
  }

  /** Asks an owner that starts its service on demand to start it now. */
  requestService(): void {
    this.#connection.write(`${serviceLine}\n`);
  }

  close(): void {
    this.#connection.destroy();
  }
}
