/**
 * The service by which buckets make files durable: on the device, and not only in the memory of the
 * operating system.
 *
 * A bucket names a file in a row only when the file would survive the loss of power
 * (`store/bucket/arriving-files.ts`). A worker cannot sync a file, and workerd's disk service does not.
 * So the process that has started the runtime of the owner syncs the files by their names, whichever
 * process has written them.
 *
 *     POST /FOLDER   a JSON array of names of blobs in a folder of `blobs`, answered by a JSON array of
 *                    sizes: `null` for a file that does not exist
 *
 * The service listens at a Unix socket as long as the process owns the store, so a runtime that starts
 * again finds the service at the same path.
 */
import { closeSync, constants, fdatasync, fstatSync, fsync, openSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import { createServer } from "../../base/node-http.ts";
import { hasRuntimeSockets, removeSocket, socketPath } from "../../state/sockets.ts";
import { bucketFolder, bucketOfFolder, isBlobName } from "../core/content.ts";

export class DurableFiles {
  readonly path: string;
  readonly #blobs: string;
  /** The folders whose own names are on the device. */
  readonly #known = new Set<string>();
  readonly #server: Server;

  private constructor(folder: string) {
    this.path = socketPath(folder, "files");
    this.#blobs = join(folder, "blobs");
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(({ message }: Error) => {
        response.writeHead(500).end(message);
      });
    });
    // workerd closes idle connections. A request that meets the end of its connection would be lost.
    this.#server.keepAliveTimeout = 0;
    this.#server.on("connection", (connection) => connection.unref());
    this.#server.unref();
  }

  /**
   * Returns `null` on Windows, where workerd cannot connect to the service.
   *
   * @param folder of a store that this process owns
   */
  static async serve(folder: string): Promise<DurableFiles | null> {
    if (!hasRuntimeSockets) return null;
    const files = new DurableFiles(folder);
    // An owner that was killed has left its socket.
    removeSocket(files.path);
    const listening = new Promise<void>((resolve, reject) => {
      files.#server.once("error", reject).listen(files.path, resolve);
    });
    // The databases sync their own files and folder, not the folders above.
    const above = [join(folder, "databases"), folder, dirname(folder), dirname(dirname(folder))];
    await Promise.all([listening, ...above.map(syncFolder)]);
    return files;
  }

  /** Must be called before the store is given up: the next owner listens at the same path. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const folder = decodeURIComponent(request.url?.slice(1) ?? "");
    const names: unknown = await json(request);
    if (!isBucketFolder(folder) || !isListOfBlobs(names)) {
      response.writeHead(400).end("The service syncs the blobs of a bucket only.");
      return;
    }
    const path = join(this.#blobs, folder);
    const folders = this.#known.has(folder) ? [path] : [path, this.#blobs];
    // At the same time, so that a journal is written once: the names exist already.
    const [sizes] = await Promise.all([syncFiles(path, names), ...folders.map(syncFolder)]);
    this.#known.add(folder);
    response.setHeader("content-type", "application/json").end(JSON.stringify(sizes));
  }
}

function isBucketFolder(name: string): boolean {
  return (
    /^[\w.+-]+$/.test(name) && !/^\.\.?$/.test(name) && bucketFolder(bucketOfFolder(name)) === name
  );
}

function isListOfBlobs(names: unknown): names is string[] {
  return (
    Array.isArray(names) && names.every((name) => typeof name === "string" && isBlobName(name))
  );
}

const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);

/** At once: each is an open file. */
const filesAtOnce = 64;

async function syncFiles(folder: string, names: readonly string[]): Promise<(number | null)[]> {
  const sizes: (number | null)[] = [];
  for (let start = 0; start < names.length; start += filesAtOnce) {
    const some = names.slice(start, start + filesAtOnce);
    sizes.push(...(await Promise.all(some.map((name) => syncFile(join(folder, name))))));
  }
  return sizes;
}

/** The size of the file; `null` when the file does not exist. */
async function syncFile(path: string): Promise<number | null> {
  const descriptor = open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  if (descriptor === null) return null;
  try {
    await syncData(descriptor);
    return fstatSync(descriptor).size;
  } finally {
    closeSync(descriptor);
  }
}

/** Some file systems do not sync folders, and this user may not read every folder above the store. */
const unsyncedFolder = new Set(["EINVAL", "ENOTSUP", "EACCES", "EPERM"]);

/** A folder that does not exist has no file either, and the file is reported. */
async function syncFolder(path: string): Promise<void> {
  let descriptor: number | null = null;
  try {
    descriptor = open(path, constants.O_RDONLY);
    if (descriptor !== null) await syncAll(descriptor);
  } catch (error) {
    if (!unsyncedFolder.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** `null` for a file that does not exist. To open a file takes less time than to ask a thread to do so. */
function open(path: string, flags: number): number | null {
  try {
    return openSync(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
