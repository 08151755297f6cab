/**
 * Where an exported object's file is.
 *
 * Most keys are paths already, and are taken as they are. Others cannot be: `a//b`, `a/`, `../x`,
 * names that are too long or that some system takes otherwise, two keys that differ in case only,
 * a key `a` beside a key `a/b`. Those go to a folder of their own, under the hash of the key, and
 * the manifest says which key each file has. Nothing that comes of a key ever leads out of the
 * folder.
 */
import { createHash } from "node:crypto";

/** What we write beside the objects begins with this, so no object's own path does. */
const ownPrefix = ".ledge-";

export const manifestName = `${ownPrefix}metadata.jsonl`;
/** Files that are not whole yet. */
export const partialFolder = `${ownPrefix}partial`;
const oddFolder = `${ownPrefix}keys`;

/** Bytes of a file's name; most systems allow 255, and some archives less. */
const segmentBytesMax = 200;
const pathBytesMax = 800;

/** Characters that Windows keeps for itself, and those that cannot be seen. */
// oxlint-disable-next-line no-control-regex -- those are meant
const oddCharacters = /[\u0000-\u001f\u007f<>:"|?*\\]|[\ud800-\udfff]/;
/** Names that Windows keeps for devices, with any ending. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Whether a key can be the path of a file, on any system. */
export function isPlainPath(key: string): boolean {
  if (Buffer.byteLength(key) > pathBytesMax) return false;
  return key.split("/").every(isPlainSegment) && !key.startsWith(ownPrefix);
}

function isPlainSegment(segment: string): boolean {
  return (
    segment !== "" &&
    !oddCharacters.test(segment.replace(/[\ud800-\udbff][\udc00-\udfff]/g, "_")) &&
    // "." and ".." among them; and Windows drops such an end.
    !/[. ]$/.test(segment) &&
    !deviceName.test(segment) &&
    Buffer.byteLength(segment) <= segmentBytesMax
  );
}

/** Gives each key of one export a path that no other has. */
export class FilePaths {
  /** As systems compare that do not tell cases, or accents, apart. */
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  pathOf(key: string): string {
    if (!isPlainPath(key)) return oddPath(key);
    const path = folded(key);
    const folders = foldersOf(path);
    const taken =
      this.#files.has(path) ||
      this.#folders.has(path) ||
      folders.some((folder) => this.#files.has(folder));
    if (taken) return oddPath(key);
    this.take(key);
    return key;
  }

  /** A path that is given already. */
  take(path: string): void {
    this.#files.add(folded(path));
    for (const folder of foldersOf(folded(path))) this.#folders.add(folder);
  }
}

function oddPath(key: string): string {
  return `${oddFolder}/${createHash("sha256").update(key).digest("hex")}`;
}

function folded(path: string): string {
  return path.normalize("NFC").toUpperCase().toLowerCase();
}

/** All folders that lead to a path. */
function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) {
    folders.push(path.slice(0, slash));
  }
  return folders;
}
