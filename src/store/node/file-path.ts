/**
 * The path of the file of an exported object.
 *
 * Most keys are valid paths, and the path is the key. Other keys cannot be paths on every system:
 * `a//b`, `a/`, `../x`, long names, names that Windows reserves, two keys that differ only in case,
 * a key `a` beside a key `a/b`. The files of such keys stand in the folder `.ledge-keys`, named by
 * the hash of the key, and the manifest holds their keys. No key leads to a path outside the folder.
 */
import { createHash } from "node:crypto";

/** Files that are not objects start with this prefix, and the paths of objects do not. */
export const reservedPrefix = ".ledge-";

export const manifestName = `${reservedPrefix}metadata.jsonl`;
export const partialFolder = `${reservedPrefix}partial`;
const hashedFolder = `${reservedPrefix}keys`;

/** The name of one file or folder. Most systems allow 255 bytes, some archive formats less. */
const segmentBytesMax = 200;
const pathBytesMax = 800;

/** Characters that Windows reserves, control characters, and lone surrogates. */
// oxlint-disable-next-line no-control-regex -- control characters are intended
const reservedCharacters = /[\u0000-\u001f\u007f<>:"|?*\\]|[\ud800-\udfff]/;
/** Names that Windows reserves for devices, with any extension. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Whether a key can be the path of a file on every system. */
export function isPlainPath(key: string): boolean {
  if (Buffer.byteLength(key) > pathBytesMax) return false;
  return key.split("/").every(isPlainSegment) && !key.startsWith(reservedPrefix);
}

function isPlainSegment(segment: string): boolean {
  return (
    segment !== "" &&
    !reservedCharacters.test(segment.replace(/[\ud800-\udbff][\udc00-\udfff]/g, "_")) &&
    // This excludes "." and "..". Windows drops a trailing dot or space.
    !/[. ]$/.test(segment) &&
    !deviceName.test(segment) &&
    Buffer.byteLength(segment) <= segmentBytesMax
  );
}

/** Assigns a different path to each key of one export. */
export class FilePaths {
  /** In the form in which case-insensitive file systems compare names. */
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  pathOf(key: string): string {
    if (!isPlainPath(key)) return hashedPath(key);
    const path = folded(key);
    const folders = foldersOf(path);
    const taken =
      this.#files.has(path) ||
      this.#folders.has(path) ||
      folders.some((folder) => this.#files.has(folder));
    if (taken) return hashedPath(key);
    this.take(key);
    return key;
  }

  /** Whether the path of an empty folder is free. The path is reserved then. */
  takeFolder(path: string): boolean {
    const folder = folded(path);
    const above = foldersOf(`${folder}/`);
    if (!isPlainPath(path) || above.some((each) => this.#files.has(each))) return false;
    for (const each of above) this.#folders.add(each);
    return true;
  }

  /** Reserves a path that another export has assigned. */
  take(path: string): void {
    this.#files.add(folded(path));
    for (const folder of foldersOf(folded(path))) this.#folders.add(folder);
  }
}

function hashedPath(key: string): string {
  return `${hashedFolder}/${createHash("sha256").update(key).digest("hex")}`;
}

function folded(path: string): string {
  return path.normalize("NFC").toUpperCase().toLowerCase();
}

function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) {
    folders.push(path.slice(0, slash));
  }
  return folders;
}
