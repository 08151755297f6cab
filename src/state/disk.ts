/**
 * The disk below a state folder, as a worker sees it through workerd's disk service: whether the
 * device has space, and whether a database is still there. The buckets and the zones have the same
 * rules.
 *
 * **A full device** (`DiskSpace`). A worker cannot ask how much space is left, and workerd hides why
 * a write failed. So after a failed write this class writes files of its own, and tells by them
 * whether the device is full. A delete is a write, too: SQLite appends it to its log. So that
 * deletes work on a full device, the folder holds a reserve: a file that is removed when the device
 * is full, and written again when there is space. While the reserve cannot be written, the device
 * counts as full, because other writes would take the space that deletes need.
 *
 * **A removed folder** (`DatabaseFile`). A process that has a file open can write to the file after
 * it was removed. SQLite does so: it commits without an error to a database that has no name any
 * more, and the end of the process destroys what was committed. So before a write is acknowledged,
 * the file is looked for. To look costs a tenth of a write, so the result of a look counts for
 * `validMilliseconds`: a single call is checked, by a look or by the opening of the file, and a busy
 * database pays once in that time. Writes that were acknowledged on the strength of an earlier look
 * are counted, and a later look either confirms them or reports how many may be lost.
 */
import { problemOf, type DiskProblem } from "./disk-problem.ts";

interface DiskResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: { cancel(): Promise<void> } | null;
}

/** The part of workerd's disk service that is used here. */
export interface DiskService {
  fetch(url: string, init?: { method: string; body?: Uint8Array }): Promise<DiskResponse>;
}

interface DiskPlace {
  /** A folder on the device, for the files of `DiskSpace`. */
  readonly disk: DiskService;
  /** The path of the state folder, for messages. */
  readonly folder: string;
  /** Whether the device was full at the start. */
  readonly isFull: boolean;
}

/** Keeps an object awake for work that no call waits for. */
type WaitUntil = (work: Promise<unknown>) => void;

/**
 * SQLite copies its log into the database when the log has 1000 pages of 4 KiB. With a reserve of
 * this size, a whole log can be copied, and the space of the log is used again.
 */
export const reserveBytes = 4 * 1024 * 1024;
/** A delete of a few objects takes less. */
const reserveBytesMin = 256 * 1024;
/** A write of a bucket or a zone that carries little takes less. */
const smallWriteBytes = 256 * 1024;
/** The most that is written to find out whether a large value fits. */
const attemptBytesMax = 64 * 1024 * 1024;
/** The most random bytes that one call gives. */
const chunkBytes = 64 * 1024;
/** How long after the first call the reserve is written: the first calls are faster without. */
const reserveDelayMilliseconds = 1000;
/** How long the result of a look counts. */
export const validMilliseconds = 100;

/** The file of the reserve. */
export const reserveName = "reserve";
const reserveUrl = `http://disk/${reserveName}`;

let sharedSpace: DiskSpace | undefined;

/** What one object of an isolate finds out about the device holds for all: an isolate has one folder. */
export function spaceOfIsolate(place: DiskPlace): DiskSpace {
  return (sharedSpace ??= new DiskSpace(place));
}

export class DiskSpace {
  readonly disk: DiskService;
  readonly folder: string;
  /** Whether the device was full when it was last tried. */
  isFull: boolean;
  #isReserveScheduled = false;

  constructor({ disk, folder, isFull }: DiskPlace) {
    this.disk = disk;
    this.folder = folder;
    this.isFull = isFull;
  }

  /** What callers are told while the device is full. */
  get fullProblem(): DiskProblem {
    return {
      text:
        `No space left on the device that holds ${this.folder}. ` +
        "Free space on this device, then repeat the call: reads and deletes work meanwhile.",
      lacksSpace: true,
    };
  }

  /**
   * Finds out why a write failed, or whether a write can succeed again.
   *
   * @param bytes the size of the write
   * @returns `null` when the device accepts such a write
   */
  async findProblem(bytes = 0): Promise<DiskProblem | null> {
    const { folder } = this;
    // An empty file needs no space: if even this fails, space is not the reason.
    if (!(await this.#accepts(0))) {
      return problemOf(
        `Cannot write to ${folder}: the folder accepts no new file. Check that its device has free ` +
          "inodes (df -i) and is not mounted read-only, and that this user may write to the folder.",
      );
    }
    this.isFull = !(await this.#accepts(smallWriteBytes)) || !(await this.restoreReserve());
    if (this.isFull) return this.fullProblem;
    const fits = bytes <= attemptBytesMax && (await this.#accepts(bytes));
    if (bytes <= smallWriteBytes || fits) return null;
    return {
      text:
        `Not enough space left on the device that holds ${folder} for ${bytes} bytes. ` +
        "Free space on this device, then repeat the call.",
      lacksSpace: true,
    };
  }

  /** Makes room for a delete. */
  async releaseReserve(): Promise<void> {
    await this.#request("DELETE", reserveUrl);
  }

  /** Writes the reserve some time after the first call. */
  scheduleReserve(waitUntil: WaitUntil): void {
    if (this.#isReserveScheduled) return;
    this.#isReserveScheduled = true;
    waitUntil(pause(reserveDelayMilliseconds).then(() => this.restoreReserve()));
  }

  /**
   * Writes the reserve if it is missing or short. Returns whether it has its whole size. On a device
   * that is still full, the reserve gets what is left, so that another program does not take it.
   *
   * Calls do not share their work, because a request in workerd cannot wait for the work of another
   * request.
   */
  async restoreReserve(): Promise<boolean> {
    const found = await this.#request("HEAD", reserveUrl);
    const foundBytes = Number(found?.headers.get("content-length") ?? 0);
    for (let bytes = reserveBytes; bytes >= reserveBytesMin; bytes /= 2) {
      if (foundBytes >= bytes) return bytes === reserveBytes;
      if (await this.#request("PUT", reserveUrl, randomBytes(bytes))) {
        return bytes === reserveBytes;
      }
    }
    return false;
  }

  async #accepts(bytes: number): Promise<boolean> {
    const url = `http://disk/attempt-${crypto.randomUUID()}`;
    if ((await this.#request("PUT", url, randomBytes(bytes))) === null) return false;
    await this.#request("DELETE", url);
    return true;
  }

  /** `null` when the request fails. */
  async #request(method: string, url: string, body?: Uint8Array): Promise<DiskResponse | null> {
    try {
      const response = await this.disk.fetch(url, { method, ...(body && { body }) });
      await response.body?.cancel();
      return response.ok ? response : null;
    } catch {
      // workerd writes the reason to its log.
      return null;
    }
  }
}

/**
 * Random: a filesystem that compresses would reserve no space for zeros. Not a stream: the disk
 * service reports success for a stream that it could not write to its end.
 */
function randomBytes(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(count);
  for (let start = 0; start < count; start += chunkBytes) {
    crypto.getRandomValues(bytes.subarray(start, start + chunkBytes));
  }
  return bytes;
}

/** Of the names of databases that were set aside, because their files are restored (`database-files.ts`). */
export const asideEnding = "-aside";

/** The database of one object. Is made when SQLite has opened the file, which counts as a look. */
export class DatabaseFile {
  readonly #space: DiskSpace;
  readonly #url: string;
  readonly #waitUntil: WaitUntil;
  #lookedAt = Date.now();
  #unconfirmed = 0;
  #looking: Promise<string | null> | undefined;
  #isLookScheduled = false;
  /** What callers are told once the file is known to be removed. */
  removedText: string | null = null;

  /** @param url of the file at the disk service of `space` */
  constructor(space: DiskSpace, url: string, waitUntil: WaitUntil) {
    this.#space = space;
    this.#url = url;
    this.#waitUntil = waitUntil;
  }

  /** Whether a call can be answered at once; otherwise `look()` comes first. */
  confirmAtOnce(isRead: boolean): boolean {
    this.#space.scheduleReserve(this.#waitUntil);
    if (Date.now() - this.#lookedAt >= validMilliseconds) return false;
    if (!isRead) {
      this.#unconfirmed++;
      this.#scheduleLook();
    }
    return true;
  }

  /**
   * The request waits until earlier writes are durable.
   *
   * @returns what callers are told when the file is removed, or `null`
   */
  look(): Promise<string | null> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<string | null> {
    const startedAt = Date.now();
    const unconfirmed = this.#unconfirmed;
    if (this.removedText === null && !(await this.#exists())) {
      this.removedText = removedText(this.#space.folder, this.#unconfirmed);
    }
    this.#lookedAt = startedAt;
    this.#unconfirmed -= unconfirmed;
    return this.removedText;
  }

  async #exists(): Promise<boolean> {
    const { disk } = this.#space;
    return (await fileExists(disk, this.#url)) || fileExists(disk, this.#url + asideEnding);
  }

  /** Writes that are acknowledged without a look are looked after even if no call follows. */
  #scheduleLook(): void {
    if (this.#isLookScheduled) return;
    this.#isLookScheduled = true;
    const look = pause(validMilliseconds).then(async () => {
      this.#isLookScheduled = false;
      if (this.#unconfirmed === 0 || this.removedText !== null) return;
      const text = await this.look();
      if (text !== null) console.error(text);
    });
    this.#waitUntil(look);
  }
}

/** Whether a file of the disk service exists; `true` also when this cannot be found out. */
export async function fileExists(disk: DiskService, url: string): Promise<boolean> {
  try {
    return (await disk.fetch(url, { method: "HEAD" })).status !== 404;
  } catch {
    return true;
  }
}

export function removedText(folder: string, unconfirmed: number): string {
  const writes = unconfirmed === 1 ? "write that was" : `${unconfirmed} writes that were`;
  const lost = unconfirmed === 0 ? "" : ` The last ${writes} acknowledged may be lost.`;
  return (
    `The folder ${folder} was removed while it was in use, so nothing can be stored any more.` +
    `${lost} Restart the process that uses the folder, and do not remove the folder while the ` +
    "process runs."
  );
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
