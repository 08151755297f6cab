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
 * when the owner dies, but the owner's runtimes live on and keep the databases open. So the owner
 * leaves a record of its processes, and the next owner first ends the processes in the record. An
 * owner that ends in order removes its record.
 *
 * A process is in one of these states, for each folder:
 *
 *     client         is connected to the control socket of the owner (`OwnerLink`), sends requests to
 *                    the service's socket, and repeats a request whose answer is lost with the same
 *                    id (`repeat.ts`). It opens no database. It may read and write content files.
 *     taking over    has the lock. It ends the programs of the last owner, and of killed clients
 *                    (`runs.ts`), before it opens anything. It answers no request yet.
 *     brief owner    has the lock and a runtime without a script (`own-runtime.ts`), because no other
 *                    process owned the folder. It gives the folder up when a client asks.
 *     owner          has the lock until its end: a dev server, or a Miniflare with a script.
 *
 *     client ──the link ends, and this process gets the lock──▶ taking over ──▶ (brief) owner
 *     client ◀──a process asks for the folder (`claimFolder()`)── brief owner
 *     (brief) owner ──its end──▶ the lock is free, the links of its clients end
 *
 * Only a process that has the lock may open the databases, write the owner's record, listen at the
 * sockets of the folder (`sockets.ts`), end the programs of other processes, and remove what they
 * have left. Every client may become the owner (`succession.ts`). The address of the service is the
 * same for every owner, and each owner remembers the outcomes of requests in the transaction of the
 * write (`outcomes.ts`), so a request that two owners receive is executed once.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket, connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { checkpointDatabases } from "./checkpoint.ts";
import { FileLock } from "./lock.ts";
import { removeSocket, socketPath } from "./sockets.ts";
import { makePrivateFolder, writeWhole } from "../base/private-files.ts";
import {
  childPrograms,
  isAlive,
  killPrograms,
  markChildren,
  markedPrograms,
  thisProcess,
  type ProcessIdentity,
} from "../base/processes.ts";
import { UserError } from "../base/user-error.ts";
import { requireUsableFolder, type FolderNeeds } from "./folder.ts";
import { RunRecords } from "./runs.ts";

export interface OwnerRecord extends ProcessIdentity {
  readonly isBrief: boolean;
  /** The runtimes and the bundler of the owner, and of earlier owners until they have ended. */
  readonly programs: readonly ProcessIdentity[];
  /** The earlier owners whose programs may not have ended. */
  readonly earlier: readonly ProcessIdentity[];
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

export class FolderOwner<Details extends object = object> {
  readonly folder: string;
  readonly #lock: FileLock;
  readonly #options: OwnerOptions<Details>;
  readonly #runs: RunRecords;
  readonly #connections = new Set<Socket>();
  #server: Server | undefined;
  #details: Partial<Details>;
  #programs: readonly ProcessIdentity[] = [];
  #isReleased = false;

  private constructor(folder: string, lock: FileLock, options: OwnerOptions<Details>) {
    this.folder = folder;
    this.#lock = lock;
    this.#options = options;
    this.#runs = new RunRecords(folder);
    this.#details = options.details ?? {};
  }

  /**
   * Makes this process the owner, and ends the programs that an earlier owner and clients that were
   * killed have left. Returns `null` when the folder has an owner.
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
      await owner.#succeed(readOwnerRecord(folder));
      await owner.#listen();
      await owner.#runs.endAbandoned();
      options.prepare?.();
      return owner;
    } catch (error) {
      owner.release();
      throw error;
    }
  }

  /**
   * Records a runtime that this process has started, and the programs that the process has started
   * for other purposes: wrangler's proxy keeps its port, and the bundler may never end.
   */
  recordRuntime(runtime: ProcessIdentity): void {
    const programs = [...this.#programs.filter(isAlive), ...childPrograms(), runtime];
    this.#programs = [...new Map(programs.map((each) => [each.processId, each])).values()];
    this.#write();
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
    if (readOwnerRecord(this.folder)?.processId === process.pid) {
      // Without the server, programs of an earlier owner may have the databases open.
      if (this.#server !== undefined) {
        checkpointDatabases(this.folder);
        removeSocket(socketPath(this.folder, controlSocket));
      }
      rmSync(join(this.folder, recordName), { force: true });
    }
    // First the lock, then the connections: a client that sees the end can take the lock.
    this.#lock.release();
    for (const connection of this.#connections) connection.destroy();
  }

  /** Ends the programs of an owner that has ended without removing its record. */
  async #succeed(last: OwnerRecord | null): Promise<void> {
    markChildren();
    if (last === null) return this.#write();
    const earlier = [identityIn(last), ...(last.earlier ?? [])];
    // If this process is killed too, the next owner needs to know all of them.
    this.#write({ programs: last.programs ?? [], earlier });
    const left = await killPrograms([...(last.programs ?? []), ...markedPrograms(earlier)]);
    if (left.length > 0) {
      const ids = left.map(({ processId }) => processId).join(", ");
      throw new UserError(
        `Cannot use ${this.folder}: process ${ids} of an earlier run still has its databases open ` +
          "and does not end. End the process, and try again.",
      );
    }
    this.#write();
  }

  #write(left: Partial<OwnerRecord> = {}): void {
    if (this.#isReleased) return;
    const record: OwnerRecord = {
      ...this.#details,
      ...thisProcess(),
      isBrief: this.#options.isBrief,
      programs: this.#programs,
      earlier: [],
      ...left,
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
      // A client that was killed has left its runtime, whose script goes on.
      if (!this.#isReleased) void this.#runs.afterClientEnd().catch(() => {});
    });
    createInterface(connection).on("line", (line) => {
      if (line === handoverLine && isBrief) onHandover?.();
      if (line === serviceLine) onServiceRequest?.();
    });
  }
}

/** `null` when the file does not exist, or is not a record. */
export function readOwnerRecord<Details extends object = object>(
  folder: string,
): (OwnerRecord & Partial<Details>) | null {
  try {
    const record = JSON.parse(readFileSync(join(folder, recordName), "utf8")) as
      | (OwnerRecord & Partial<Details>)
      | null;
    return Number.isInteger(record?.processId) ? record : null;
  } catch {
    return null;
  }
}

function identityIn({ processId, processStart = null }: ProcessIdentity): ProcessIdentity {
  return { processId, processStart };
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
