/** Why a device does not accept a write, or why a folder on it cannot be used. */
export interface DiskProblem {
  /** A sentence for the caller. */
  readonly text: string;
  /** Whether the write succeeds when the device has more space. */
  readonly lacksSpace: boolean;
}

/** A problem that more space does not solve. */
export function problemOf(text: string): DiskProblem {
  return { text, lacksSpace: false };
}

/**
 * The device that holds a state folder, as a worker sees it through workerd's disk service.
 *
 * A worker cannot ask how much space is left, and workerd hides why a write failed. So after a
 * failed write this class writes files of its own, and tells by them whether the device is full.
 *
 * A delete is a write, too: SQLite appends it to its log. So that deletes work on a full device,
 * the folder holds a reserve: a file that is removed when the device is full, and written again
 * when there is space. While the reserve cannot be written, the device counts as full, because
 * other writes would take the space that deletes need.
 */

interface DiskResponse {
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  readonly body: { cancel(): Promise<void> } | null;
}

/** The part of workerd's disk service that is used here. */
export interface DiskService {
  fetch(url: string, init?: { method: string; body?: Uint8Array }): Promise<DiskResponse>;
}

export interface DiskSpaceOptions {
  /** A folder on the device, for the files of this class. */
  readonly disk: DiskService;
  /** The path of the folder, for messages. */
  readonly folder: string;
  readonly randomName: () => string;
  readonly fillRandom: (bytes: Uint8Array<ArrayBuffer>) => void;
}

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

/** The file of the reserve. */
export const reserveName = "reserve";
const reserveUrl = `http://disk/${reserveName}`;

export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  /** Whether the device was full when it was last tried. */
  isFull = false;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  /** What callers are told while the device is full. */
  get fullProblem(): DiskProblem {
    return {
      text:
        `No space left on the device that holds ${this.#options.folder}. ` +
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
    const { folder } = this.#options;
    // An empty file needs no space: if even this fails, space is not the reason.
    if (!(await this.#accepts(0))) {
      return problemOf(
        `Cannot write to ${folder}: the folder accepts no new file. Check that this user may ` +
          "write to the folder, and that its device is not mounted read-only.",
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
      if (await this.#request("PUT", reserveUrl, this.#randomBytes(bytes))) {
        return bytes === reserveBytes;
      }
    }
    return false;
  }

  async #accepts(bytes: number): Promise<boolean> {
    const url = `http://disk/attempt-${this.#options.randomName()}`;
    if ((await this.#request("PUT", url, this.#randomBytes(bytes))) === null) return false;
    await this.#request("DELETE", url);
    return true;
  }

  /** `null` when the request fails. */
  async #request(method: string, url: string, body?: Uint8Array): Promise<DiskResponse | null> {
    try {
      const response = await this.#options.disk.fetch(url, { method, ...(body && { body }) });
      await response.body?.cancel();
      return response.ok ? response : null;
    } catch {
      // workerd writes the reason to its log.
      return null;
    }
  }

  /**
   * Random: a filesystem that compresses would reserve no space for zeros. Not a stream: the disk
   * service reports success for a stream that it could not write to its end.
   */
  #randomBytes(count: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(count);
    for (let start = 0; start < count; start += chunkBytes) {
      this.#options.fillRandom(bytes.subarray(start, start + chunkBytes));
    }
    return bytes;
  }
}

/**
 * Notices that a database was removed while it is in use.
 *
 * A process that has a file open can write to the file after it was removed. SQLite does so: it
 * commits without an error to a database that has no name any more, and the end of the process
 * destroys what was committed. So before a write is acknowledged, the file is looked for. To look
 * costs a tenth of a write, so the result of a look counts for `validMilliseconds`: a single call
 * is checked, by a look or by the opening of the file, and a busy database pays once in that time.
 * Writes that were acknowledged on the strength of an earlier look are counted, and a later look
 * either confirms them or reports how many may be lost.
 */

/** How long the result of a look counts. */
export const validMilliseconds = 100;

export interface FilePresenceOptions {
  /** Whether the file exists; `true` when this cannot be found out. */
  readonly exists: () => Promise<boolean>;
  readonly now: () => number;
  /** The path of the folder, for messages. */
  readonly folder: string;
}

/** Is made when SQLite has opened the file, which counts as a look. */
export class FilePresence {
  readonly #options: FilePresenceOptions;
  #lookedAt: number;
  #unconfirmed = 0;
  #looking: Promise<string | null> | undefined;
  /** What callers are told once the file is known to be removed. */
  removedText: string | null = null;

  constructor(options: FilePresenceOptions) {
    this.#options = options;
    this.#lookedAt = options.now();
  }

  /** Whether a call has to wait for `look()` before it is answered. */
  get isDue(): boolean {
    return this.#options.now() - this.#lookedAt >= validMilliseconds;
  }

  /** Writes that were acknowledged without a look. */
  get hasUnconfirmed(): boolean {
    return this.#unconfirmed > 0;
  }

  /** A write is acknowledged without a look. */
  countUnconfirmed(): void {
    this.#unconfirmed++;
  }

  /** @returns what callers are told when the file is removed, or `null` */
  look(): Promise<string | null> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<string | null> {
    const startedAt = this.#options.now();
    const unconfirmed = this.#unconfirmed;
    if (this.removedText === null && !(await this.#options.exists())) {
      this.removedText = removedText(this.#options.folder, this.#unconfirmed);
    }
    this.#lookedAt = startedAt;
    this.#unconfirmed -= unconfirmed;
    return this.removedText;
  }
}

function removedText(folder: string, unconfirmed: number): string {
  const writes = unconfirmed === 1 ? "write that was" : `${unconfirmed} writes that were`;
  const lost = unconfirmed === 0 ? "" : ` The last ${writes} acknowledged may be lost.`;
  return (
    `The folder ${folder} was removed while it was in use, so nothing can be stored any more.` +
    `${lost} Restart the process that uses the folder, and do not remove the folder while the ` +
    "process runs."
  );
}
