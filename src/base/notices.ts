/**
 * Notices that a project gets once, and not with each command: a version that was not tested, a name that
 * only a deploy refuses. The notices that were given are the lines of a file:
 *
 *     node_modules/.cache/ledge/notices.txt
 *
 * Where the file cannot be written, each command gives its notices.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolderOf } from "./loading.ts";

/**
 * Whether the project has not had this notice. From now on the project has had it.
 *
 * @param notice a line
 * @param path of a file or folder in the `node_modules` of the project, for a package that is a link
 */
export function isNews(notice: string, path: string): boolean {
  const folder = cacheFolderOf(import.meta.filename) ?? cacheFolderOf(path);
  if (folder === null) return true;
  const file = join(folder, "notices.txt");
  if (readLines(file).includes(notice)) return false;
  // A project without `node_modules` gets none.
  if (!existsSync(join(folder, "../.."))) return true;
  try {
    mkdirSync(folder, { recursive: true });
    appendFileSync(file, `${notice}\n`);
  } catch {
    // A folder that belongs to another user is no reason to be silent, and none to fail.
  }
  return true;
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}
