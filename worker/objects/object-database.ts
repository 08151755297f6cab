/**
 * What the database of a zone and the database of the index have in common: a test layer undoes its
 * writes, the outcome of a request that may be repeated is stored with the write
 * (`src/state/outcomes.ts`), and a reply confirms that the folder of the databases is still there
 * (`src/state/disk.ts`). The record API and the objects run in one isolate, and share what they find
 * out of the folder.
 */
import { UndoJournal } from "../../src/base/undo-journal.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { DatabaseFile, spaceOfIsolate, type DiskSpace } from "../../src/state/disk.ts";
import { RequestOutcomes } from "../../src/state/outcomes.ts";
import { zoneTestSession } from "./zone-test-session.ts";

/** The bindings; absent where the worker runs without our Node code. */
export interface ZonesDiskEnv {
  readonly ZONES_DISK?: Fetcher;
  /** A `ZonesPlace` as JSON. */
  readonly ZONES_PLACE?: string;
}

interface ZonesPlace {
  readonly folder: string;
  /** The folder of a class's databases is this prefix and the name of the class. */
  readonly databases: string;
  /** Whether the device was full at the start. */
  readonly isFull: boolean;
}

/** What callers are told once a database is known to be removed. */
let removedText: string | null = null;

/** `null` where the worker has no access to the folder. */
export function zonesDiskSpace({ ZONES_DISK, ZONES_PLACE }: ZonesDiskEnv): DiskSpace | null {
  if (ZONES_DISK === undefined || ZONES_PLACE === undefined) return null;
  return spaceOfIsolate({ disk: ZONES_DISK, ...(JSON.parse(ZONES_PLACE) as ZonesPlace) });
}

/** @throws ZoneError when the folder was removed while it was in use */
export function requireZonesFolder(): void {
  if (removedText !== null) throw new ZoneError([problem.storage(removedText)]);
}

export class ObjectDatabase {
  readonly sql: SqlStorage;
  readonly replies: RequestOutcomes;
  readonly #storage: DurableObjectStorage;
  readonly #zoneId: string | null;
  readonly #file: DatabaseFile | null = null;
  #journal: UndoJournal;

  /** The index changes only when a zone changes, too. */
  constructor(ctx: DurableObjectState, env: ZonesDiskEnv, className: "ZoneObject" | "IndexObject") {
    this.#storage = ctx.storage;
    this.sql = ctx.storage.sql;
    this.replies = new RequestOutcomes(this.sql);
    this.#zoneId = className === "ZoneObject" ? (ctx.id.name ?? null) : null;
    this.#journal = new UndoJournal(this.sql);
    this.#journal.recover(zoneTestSession.run);
    const space = zonesDiskSpace(env);
    if (space === null) return;
    const { databases } = JSON.parse(env.ZONES_PLACE as string) as ZonesPlace;
    const url = `http://zones/${databases}${className}/${ctx.id.toString()}.sqlite`;
    this.#file = new DatabaseFile(space, url, (work) => ctx.waitUntil(work));
  }

  /** To be called before every write that is not made by `write()`. */
  enter(): void {
    if (zoneTestSession.run === "") return;
    zoneTestSession.touch(this.#zoneId);
    this.#journal.enter(zoneTestSession.layer, zoneTestSession.run);
  }

  /** One transaction. `work` returns the JSON of the reply to the request with this id. */
  write(requestId: string | null, work: () => string): string {
    this.enter();
    return this.#storage.transactionSync(() => {
      const json = work();
      this.replies.add(requestId, json);
      return json;
    });
  }

  undoLayer(layer: number): void {
    this.#journal.leave(layer, zoneTestSession.run);
  }

  /** Deletes everything. An open test layer can restore the rows. */
  async clear(): Promise<void> {
    this.enter();
    if (zoneTestSession.layer !== null) return this.#journal.empty();
    this.#journal = new UndoJournal(this.sql);
    await this.#storage.deleteAll();
  }

  /**
   * To be called after a write, before its reply.
   *
   * @throws ZoneError when the database was removed
   */
  async confirm(): Promise<void> {
    if (this.#file === null) return;
    if (!this.#file.confirmAtOnce(false)) await this.#file.look();
    removedText ??= this.#file.removedText;
    requireZonesFolder();
  }
}
