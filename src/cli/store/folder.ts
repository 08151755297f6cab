/** The folder of an export or an import: its files, and writing them so that each is whole. */
import { createHash, randomBytes } from "node:crypto";
import { createWriteStream, lstatSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { UserError } from "../../base/user-error.ts";
import { partialFolder } from "./file-path.ts";
import type { FetchedObject } from "../../store/node/endpoint-bucket.ts";

export class ExportFolder {
  readonly root: string;
  readonly #made = new Set<string>();

  constructor(root: string) {
    this.root = root;
  }

  async prepare(): Promise<void> {
    await mkdir(this.root, { recursive: true });
    // What an export that was stopped has left.
    await rm(join(this.root, partialFolder), { recursive: true, force: true });
    await mkdir(join(this.root, partialFolder));
  }

  async finish(): Promise<void> {
    await rm(join(this.root, partialFolder), { recursive: true, force: true });
  }

  /** A place for what is being written. */
  partialPath(): string {
    return join(this.root, partialFolder, randomBytes(8).toString("hex"));
  }

  /**
   * Writes a file whole or not at all.
   *
   * @throws UserError when the content is not what the object's md5 says, or the path leads away
   */
  async write(path: string, fetched: FetchedObject): Promise<void> {
    const partial = this.partialPath();
    try {
      await writeContent(partial, fetched);
      this.#makeFolders(dirname(path));
      renameSync(partial, join(this.root, path));
    } catch (error) {
      await rm(partial, { force: true });
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EISDIR" || code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOTDIR") {
        throw new UserError(`${join(this.root, path)} is in the way: ${(error as Error).message}.`);
      }
      throw error;
    }
  }

  /** Makes folders below the root, one after the other, and follows no link out of it. */
  #makeFolders(path: string): void {
    if (path === "." || this.#made.has(path)) return;
    this.#makeFolders(dirname(path));
    const absolute = join(this.root, path);
    try {
      mkdirSync(absolute);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (!lstatSync(absolute).isDirectory()) {
        throw new UserError(`${absolute} is in the way: it is not a folder.`);
      }
    }
    this.#made.add(path);
  }
}

/** Writes content to a file, and holds it against the object's md5. */
export async function writeContent(
  path: string,
  { object, content }: FetchedObject,
): Promise<void> {
  const hash = createHash("md5");
  if (content instanceof Uint8Array) {
    hash.update(content);
    writeFileSync(path, content);
  } else {
    const hashing = new Transform({
      transform(chunk: Buffer, _, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    await pipeline(content, hashing, createWriteStream(path));
  }
  const { md5 } = object.checksums;
  if (md5 !== undefined && md5 !== hash.digest("hex")) {
    throw new UserError(
      `"${object.key}" does not have the content that its md5 says: it is damaged. ` +
        "Put it again or delete it.",
    );
  }
}

/** All files below a folder by path, with slashes. Links to folders are not followed. */
export async function* filesBelow(root: string, below = ""): AsyncGenerator<string> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(root, path);
    else if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(join(root, path))))) {
      yield path;
    }
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
