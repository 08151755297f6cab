/** The folder of a build, written whole: a build that fails leaves the earlier build. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { UserError } from "../base/user-error.ts";
import { edgePaths } from "./edge-config.ts";

export interface EdgeFile {
  /** Relative to the folder, with slashes. */
  readonly path: string;
  readonly content: string | Uint8Array;
}

/**
 * Requires that the folder is empty, new, or made by an earlier build.
 *
 * @throws UserError otherwise: the build would remove files that it has not made
 */
export function requireOwnFolder(folder: string): void {
  if (!existsSync(folder) || existsSync(join(folder, edgePaths.config))) return;
  if (readdirSync(folder).length === 0) return;
  throw new UserError(
    `${folder} has files that ledge build has not written. Name an empty folder: --outdir DIR.`,
  );
}

/** @param folders are made if they do not exist, and keep their content */
export function writeEdgeFolder(
  folder: string,
  files: readonly EdgeFile[],
  folders: readonly string[],
): void {
  for (const { path } of files) requireInside(path);
  for (const stale of [edgePaths.modules, dirname(edgePaths.extension)]) {
    rmSync(join(folder, stale), { recursive: true, force: true });
  }
  for (const name of folders) mkdirSync(join(folder, name), { recursive: true });
  for (const { path, content } of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** A module of a folder above the script has a name with `..`. */
function requireInside(path: string): void {
  if (posix.normalize(path) === path && !path.startsWith("/")) return;
  throw new UserError(
    `The module "${path}" is outside the folder of the script. Move it below the script's folder.`,
  );
}
