/** Writes the files of an export, each completely or not at all. */
import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, renameSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UserError } from "../../../base/user-error.ts";
import type { FetchedObject } from "../../../store/node/bucket-objects.ts";
import { withTemporaryPath } from "../../cleanup.ts";
import { writeContent } from "../object-file.ts";
import { partialFolder } from "../../../store/node/file-path.ts";

export class FolderWriter {
  readonly root: string;
  readonly #madeFolders = new Set<string>();

  constructor(root: string) {
    this.root = root;
  }

  /** Runs `work` with a folder for partial files, which the end of the work or a signal removes. */
  async withPartialFolder<Result>(work: () => Promise<Result>): Promise<Result> {
    const folder = join(this.root, partialFolder);
    await mkdir(this.root, { recursive: true });
    return withTemporaryPath(folder, async () => {
      // An export that was killed leaves partial files.
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder);
      return work();
    });
  }

  /** A new path for a file that is not complete. */
  partialPath(): string {
    return join(this.root, partialFolder, randomBytes(8).toString("hex"));
  }

  /**
   * @throws UserError when the content does not match the object's md5, or when a file, a folder or
   *   a link stands in the place of the file or of a folder above it
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
        throw new UserError(`Cannot write ${join(this.root, path)}: ${(error as Error).message}.`);
      }
      throw error;
    }
  }

  /** Makes folders below the root, from the top down. Follows no link out of the root. */
  #makeFolders(path: string): void {
    if (path === "." || this.#madeFolders.has(path)) return;
    this.#makeFolders(dirname(path));
    const absolute = join(this.root, path);
    try {
      mkdirSync(absolute);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (!lstatSync(absolute).isDirectory()) {
        throw new UserError(`Cannot write below ${absolute}: it is not a folder.`);
      }
    }
    this.#madeFolders.add(path);
  }
}
