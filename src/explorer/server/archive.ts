/**
 * A folder as a zip file. The entries are in the order of the keys, and the browser sets the pace: an
 * object is opened when the objects before have been sent.
 *
 * The name of an entry is the key without the parent of the folder. A key that is no path on every
 * system, such as `../x`, gets the name that an export gives to its file (`store/node/file-path.ts`),
 * so no entry leads out of the folder in which a person unpacks the file. The last entry,
 * `.ledge-keys.json`, then says which keys these names stand for, and which objects are left out: an
 * object with a key of a customer cannot be read. An object that is deleted meanwhile is left out.
 */
import { listLimitMax } from "../../store/core/limits.ts";
import { decodeObjects } from "../../store/core/object.ts";
import type { ObjectRecord } from "../../store/core/operations.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { FilePaths, reservedPrefix } from "../../store/node/file-path.ts";
import { quoted, requireBucket } from "./bucket-access.ts";
import { CallError, type ExplorerResponse } from "./call.ts";
import { type ExplorerCall } from "./context.ts";
import { attachment, fileNameOf } from "./content-headers.ts";
import { OpenedContent } from "./opened-content.ts";
import { zipFile, type ZipEntry } from "./zip-writer.ts";

const indexName = `${reservedPrefix}keys.json`;

export async function downloadArchive(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const prefix = call.query.get("prefix") ?? "";
  const pages = objectPages(bucket, prefix);
  const first = await pages.next();
  if (first.done === true) {
    throw new CallError(
      404,
      prefix === ""
        ? `The bucket "${bucket.name}" has no objects.`
        : `The bucket "${bucket.name}" has no objects below ${quoted(prefix)}.`,
    );
  }
  return {
    status: 200,
    headers: {
      "content-type": "application/zip",
      "content-disposition": attachment(`${fileNameOf(prefix, bucket.name)}.zip`),
    },
    body: zipFile(archiveEntries(bucket, prefix, continued(first.value, pages))),
  };
}

async function* archiveEntries(
  bucket: Bucket,
  prefix: string,
  pages: AsyncIterable<readonly ObjectRecord[]>,
): AsyncGenerator<ZipEntry> {
  const names = new EntryNames(parentLength(prefix));
  const leftOut = new Map<string, string>();
  for await (const page of pages) {
    for (const { key } of page) {
      const opened = await bucket.get({ key });
      if (opened?.status !== "found") continue;
      const { object, range } = opened;
      const content = new OpenedContent(opened);
      try {
        if (object.ssecKeyMd5 !== undefined) {
          leftOut.set(key, "The object was written with a key of the customer.");
          continue;
        }
        const name = names.nameOf(key, object.size);
        yield { name, modified: object.uploaded, size: range.length, content };
      } finally {
        content.close();
      }
    }
  }
  const { renamed } = names;
  if (renamed.size === 0 && leftOut.size === 0) return;
  const index = { renamed: Object.fromEntries(renamed), leftOut: Object.fromEntries(leftOut) };
  const bytes = Buffer.from(`${JSON.stringify(index, null, 2)}\n`);
  const content = new OpenedContent({ content: bytes });
  yield { name: indexName, modified: Date.now(), size: bytes.length, content };
}

/** Pages that are not empty. */
async function* objectPages(
  bucket: Bucket,
  prefix: string,
): AsyncGenerator<readonly ObjectRecord[], undefined> {
  let cursor: string | undefined;
  do {
    const page = await bucket.call({
      method: "list",
      prefix,
      delimiter: "",
      limit: listLimitMax,
      includeHttp: false,
      includeCustom: false,
      ...(cursor !== undefined && { cursor }),
    });
    const objects = decodeObjects(page.objectsJson, { http: false, custom: false });
    if (objects.length > 0) yield objects;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function* continued<Item>(first: Item, rest: AsyncIterable<Item>): AsyncGenerator<Item> {
  yield first;
  yield* rest;
}

/** How much of each key is left out: `2` for `a/b/`, because the parent is `a/`. */
export function parentLength(prefix: string): number {
  return prefix.replace(/\/$/, "").lastIndexOf("/") + 1;
}

/** Gives each object of one archive a name of its own. */
export class EntryNames {
  /** The keys, by the names that tell nothing of them. */
  readonly renamed = new Map<string, string>();
  readonly #paths = new FilePaths();
  readonly #parentLength: number;

  constructor(parentCharacters: number) {
    this.#parentLength = parentCharacters;
  }

  nameOf(key: string, size: number): string {
    const path = key.slice(this.#parentLength);
    // An empty object whose key ends in a slash stands for an empty folder.
    const isFolder = size === 0 && path.endsWith("/");
    if (isFolder && this.#paths.takeFolder(path.slice(0, -1))) return path;
    const name = this.#paths.pathOf(path);
    if (name !== path) this.renamed.set(name, key);
    return name;
  }
}
