/** Zone files on disk. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { NotFoundError, UserError } from "../../base/user-error.ts";

/** @param path `-` is standard input */
export function readZoneFile(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new NotFoundError(`There is no file ${path}.`);
    throw new UserError(`Cannot read ${path}: ${message}.`, { cause: error });
  }
}

/** The file appears, or changes, only when it is complete. */
export function writeZoneFile(path: string, text: string): void {
  const partial = `${path}.${process.pid}.partial`;
  try {
    writeFileSync(partial, text);
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new UserError(`Cannot write ${path}: ${(error as Error).message}.`, { cause: error });
  }
}
