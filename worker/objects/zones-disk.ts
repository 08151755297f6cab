/**
 * The folder of the zones: whether its device has space, and whether the folder is still there
 * (`src/state/disk.ts`). The record API and the objects run in one isolate, and share what they find
 * out.
 */
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { DatabaseFile, spaceOfIsolate, type DiskSpace } from "../../src/state/disk.ts";

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

/**
 * The database of one object.
 *
 * @returns a function to be called after a write, before its reply; it throws a `ZoneError` when the
 *   database was removed
 */
export function watchDatabase(
  ctx: DurableObjectState,
  env: ZonesDiskEnv,
  className: string,
): () => Promise<void> {
  const space = zonesDiskSpace(env);
  if (space === null) return () => Promise.resolve();
  const { databases } = JSON.parse(env.ZONES_PLACE as string) as ZonesPlace;
  const url = `http://zones/${databases}${className}/${ctx.id.toString()}.sqlite`;
  const file = new DatabaseFile(space, url, (work) => ctx.waitUntil(work));
  return async () => {
    if (!file.confirmAtOnce(false)) await file.look();
    removedText ??= file.removedText;
    requireZonesFolder();
  };
}
