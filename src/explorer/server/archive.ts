/**
 * A folder, or what a person has selected, as a zip file. The entries are in the order of the keys, and the
 * browser sets the pace: an object is opened when the objects before have been sent.
 *
 * The name of an entry is the key without the folder that has all of them. A key that is no path on every
 * system, such as `../x`, gets the name that an export gives to its file (`store/node/file-path.ts`),
 * so no entry leads out of the folder in which a person unpacks the file. The last entry,
 * `.ledge-keys.json`, then says which keys these names stand for, and which objects are left out: an
 * object with a key of a customer cannot be read. An object that is deleted meanwhile is left out.
 */
import * as v from "valibot";
import type { Bucket } from "../../store/node/bucket.ts";
import { FilePaths, reservedPrefix } from "../../store/node/file-path.ts";
import type { ObjectSelection } from "../api/tasks.ts";
import { quoted, requireBucket } from "./buckets.ts";
import { CallError, readFormField, type ExplorerCall, type ExplorerResponse } from "./call.ts";
import { attachment, fileNameOf, OpenedContent } from "./content.ts";
import { objectPages, plainSelection } from "./transfer.ts";
import { zipFile, type ZipEntry } from "./zip-writer.ts";

const indexName = `${reservedPrefix}keys.json`;

type Selection = Pick<ObjectSelection, "keys" | "prefixes">;

const selectionSchema = v.object({
  keys: v.array(v.string("must be text"), "must be a list of keys"),
  prefixes: v.array(v.string("must be text"), "must be a list of folders"),
});

/** Of the folder that the query names. */
export async function downloadFolder(call: ExplorerCall): Promise<ExplorerResponse> {
  const prefix = call.query.get("prefix") ?? "";
  return download(call, { keys: [], prefixes: [prefix] });
}

/** Of the field `selection` of a form: a browser saves the response of a form without a script. */
export async function downloadSelection(call: ExplorerCall): Promise<ExplorerResponse> {
  return download(call, plainSelection(await readFormField(call, "selection", selectionSchema)));
}

async function download(call: ExplorerCall, selection: Selection): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const paths = [...selection.keys, ...selection.prefixes];
  const [prefix = ""] = selection.prefixes;
  const parent = parentLength(paths);
  // A folder, or the folder that has what is selected.
  const named = paths.length === 1 ? prefix : (paths[0]?.slice(0, parent) ?? "");
  const pages = selectedPages(bucket, selection);
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
      "content-disposition": attachment(`${fileNameOf(named, bucket.name)}.zip`),
    },
    body: zipFile(archiveEntries(bucket, parent, continued(first.value, pages))),
  };
}

async function* archiveEntries(
  bucket: Bucket,
  parentCharacters: number,
  pages: AsyncIterable<readonly { readonly key: string }[]>,
): AsyncGenerator<ZipEntry> {
  const names = new EntryNames(parentCharacters);
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

async function* selectedPages(
  bucket: Bucket,
  { keys, prefixes }: Selection,
): AsyncGenerator<readonly { readonly key: string }[], undefined> {
  if (keys.length > 0) yield keys.map((key) => ({ key }));
  for (const prefix of prefixes) yield* objectPages(bucket, prefix);
}

async function* continued<Item>(first: Item, rest: AsyncIterable<Item>): AsyncGenerator<Item> {
  yield first;
  yield* rest;
}

/** How much of each key is left out: `2` for `a/b/` and `a/c`, because the parent of both is `a/`. */
export function parentLength(paths: readonly string[]): number {
  const parents = paths.map(parentOf);
  let [parent = ""] = parents;
  for (const other of parents) while (!other.startsWith(parent)) parent = parentOf(parent);
  return parent.length;
}

function parentOf(path: string): string {
  return path.slice(0, path.replace(/\/$/, "").lastIndexOf("/") + 1);
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
