/**
 * The folder of the zones: whether its device has space, and whether the folder is still there.
 * The record API and the objects run in one isolate, and share what they find out.
 */
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { DiskSpace, FilePresence, validMilliseconds } from "../../src/state/disk.ts";

/** The bindings; absent where the worker runs without our Node code. */
export interface ZonesDiskEnv {
  /** The folder of the zones. */
  readonly ZONES_DISK?: Fetcher;
  /** A `ZonesPlace` as JSON. */
  readonly ZONES_PLACE?: string;
}

interface ZonesPlace {
  /** The path of the folder, for messages. */
  readonly folder: string;
  /** The folder of a class's databases is this prefix and the name of the class. */
  readonly databases: string;
  /** Whether the device was full at the start. */
  readonly isFull: boolean;
}

/** How long after the first write the reserve is written: the first calls are faster without. */
const reserveDelayMilliseconds = 1000;
let isReserveWritten = false;

let zonesSpace: DiskSpace | undefined;
/** What callers are told once a database is known to be removed. */
let removedText: string | null = null;

/** `null` where the worker has no access to the folder. */
export function zonesDiskSpace({ ZONES_DISK, ZONES_PLACE }: ZonesDiskEnv): DiskSpace | null {
  if (ZONES_DISK === undefined || ZONES_PLACE === undefined) return null;
  if (zonesSpace === undefined) {
    const { folder, isFull } = JSON.parse(ZONES_PLACE) as ZonesPlace;
    zonesSpace = new DiskSpace({
      disk: ZONES_DISK,
      folder,
      randomName: () => crypto.randomUUID(),
      fillRandom: (bytes) => void crypto.getRandomValues(bytes),
    });
    zonesSpace.isFull = isFull;
  }
  return zonesSpace;
}

/** @throws ZoneError when the folder was removed while it was in use */
export function requireZonesFolder(): void {
  if (removedText !== null) throw new ZoneError([problem.storage(removedText)]);
}

/** The database of one object. */
export class ObjectDisk {
  readonly #ctx: DurableObjectState;
  readonly #space: DiskSpace | null;
  readonly #presence: FilePresence | null;
  #isLookScheduled = false;

  constructor(ctx: DurableObjectState, env: ZonesDiskEnv, className: string) {
    const { ZONES_DISK: disk, ZONES_PLACE: place } = env;
    this.#ctx = ctx;
    this.#space = zonesDiskSpace(env);
    if (disk === undefined || place === undefined) {
      this.#presence = null;
      return;
    }
    const { folder, databases } = JSON.parse(place) as ZonesPlace;
    const url = `http://zones/${databases}${className}/${ctx.id.toString()}.sqlite`;
    this.#presence = new FilePresence({
      exists: () => exists(disk, url),
      now: () => Date.now(),
      folder,
    });
  }

  /**
   * To be called after a write, before its reply. The request waits until the write is durable.
   *
   * @throws ZoneError when the database was removed
   */
  async confirm(): Promise<void> {
    if (this.#presence === null) return;
    if (this.#presence.isDue) {
      if (!isReserveWritten) this.#writeReserveSoon();
      removedText ??= await this.#presence.look();
    } else {
      this.#presence.countUnconfirmed();
      this.#scheduleLook(this.#presence);
    }
    requireZonesFolder();
  }

  /** Writes that are acknowledged without a look are looked after even if no call follows. */
  #scheduleLook(presence: FilePresence): void {
    if (this.#isLookScheduled) return;
    this.#isLookScheduled = true;
    const look = scheduler.wait(validMilliseconds).then(async () => {
      this.#isLookScheduled = false;
      if (!presence.hasUnconfirmed || removedText !== null) return;
      removedText = await presence.look();
      if (removedText !== null) console.error(removedText);
    });
    this.#ctx.waitUntil(look);
  }

  #writeReserveSoon(): void {
    isReserveWritten = true;
    const write = scheduler
      .wait(reserveDelayMilliseconds)
      .then(() => this.#space?.restoreReserve());
    this.#ctx.waitUntil(write);
  }
}

/** `true` also when this cannot be found out. */
async function exists(disk: Fetcher, url: string): Promise<boolean> {
  try {
    return (await disk.fetch(url, { method: "HEAD" })).status !== 404;
  } catch {
    return true;
  }
}
