/** `ledge store buckets`, `list`, `ls` and `head`: what there is, and objects as commands show them. */
import { escapeControls, formatTable } from "../../base/format.ts";
import { NotFoundError } from "../../base/user-error.ts";
import type { HttpMetadata } from "../../store/core/metadata.ts";
import type { ObjectRecord } from "../../store/core/operations.ts";
import { headObject, listPages } from "../../store/node/bucket-objects.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { projectOptions, UsageError, type Invocation, type LeafCommand } from "../command.ts";
import { print, shown } from "../output.ts";
import {
  bucketSummary,
  findProject,
  objectArgument,
  objectNotFound,
  parseAddress,
  splitAddress,
  storeCommand,
  type StoreProject,
} from "./open-store.ts";

const placeSummary = `${bucketSummary}, and the beginning of keys`;

export const listBuckets: LeafCommand = {
  name: "buckets",
  summary: "Lists the buckets of the configuration and the buckets on disk",
  options: projectOptions,

  async run(invocation) {
    printBuckets(invocation, findProject(invocation).buckets);
  },
};

function printBuckets(invocation: Invocation, buckets: StoreProject["buckets"]): void {
  print(
    invocation,
    buckets.map(({ bucketName, bindings, storageClass, remote }) => ({
      name: bucketName,
      bindings,
      storageClass,
      remote: remote?.remote,
      endpoint: remote?.endpoint,
    })),
    formatTable(
      buckets.map(({ bucketName, bindings, remote }) => [
        bucketName,
        bindings.map((name) => `env.${name}`).join(", ") || "(not configured)",
        remote === undefined ? "" : `on ${remote.remote}, ${remote.endpoint}`,
      ]),
    ),
  );
}

const sizeWidth = 12;
const prefixColumns = "-".padStart(sizeWidth) + "  " + "-".padEnd(20);

export const listObjects = storeCommand({
  name: "list",
  summary: "Lists objects in the order of their keys",
  details: "With --json, each object is one line.",
  arguments: [["BUCKET[/PREFIX]", placeSummary]],
  options: {
    "-p, --prefix PREFIX": "Lists only keys with this prefix",
    "--delimiter TEXT": "Groups keys by the part before this text",
  },
  examples: ["ledge store list photos --prefix 2026/ --delimiter /"],

  async run(invocation, store, word) {
    const { bucket, key } = splitAddress(word);
    const prefix = invocation.text("prefix");
    if (prefix !== undefined && key !== "") {
      throw new UsageError("Name the prefix once: in BUCKET/PREFIX, or by --prefix.");
    }
    const delimiter = invocation.text("delimiter");
    await printObjects(invocation, store.bucket(bucket), { prefix: prefix ?? key, delimiter });
  },
});

export const ls = storeCommand({
  name: "ls",
  summary: "Lists buckets, or one level of a bucket, as in a file system",
  details: "Keys below the next slash are one line. With --json, each object is one line.",
  arguments: [["[BUCKET[/PREFIX]]", `${placeSummary}; by default, the buckets are listed`]],
  options: {
    "-r, --recursive": "Lists the objects of all levels",
    "-l, --long": "Changes nothing: sizes and times are shown in any case",
  },
  examples: ["ledge store ls", "ledge store ls photos/2026/", "ledge store ls -r photos"],

  async run(invocation, store, word?: string) {
    const { bucket, key } = splitAddress(word ?? "");
    if (bucket === "") return printBuckets(invocation, store.project.buckets);
    const delimiter = invocation.flag("recursive") ? "" : "/";
    const found = await printObjects(invocation, store.bucket(bucket), { prefix: key, delimiter });
    if (found > 0 || key === "") return;
    throw new NotFoundError(`No key in "${bucket}" begins with "${escapeControls(key)}".`);
  },
});

/** @returns the number of lines */
async function printObjects(
  invocation: Invocation,
  bucket: Bucket,
  selection: { readonly prefix: string; readonly delimiter?: string },
): Promise<number> {
  let count = 0;
  // Each page is printed as it arrives: a listing may be larger than the memory.
  for await (const { objects, prefixes } of listPages(bucket, selection)) {
    count += objects.length + prefixes.length;
    for (const group of prefixes) {
      print(invocation, { prefix: group }, `${prefixColumns}  ${shown(group)}`);
    }
    for (const object of objects) {
      const json = toObjectJson(object);
      const size = String(object.size).padStart(sizeWidth);
      print(invocation, json, `${size}  ${json.uploaded.slice(0, 19)}Z  ${shown(object.key)}`);
    }
  }
  return count;
}

export const head = storeCommand({
  name: "head",
  summary: "Shows the metadata of an object",
  arguments: [objectArgument],

  async run(invocation, store, word) {
    const address = parseAddress(word);
    const record = await headObject(store.bucket(address.bucket), address.key);
    if (record === null) throw objectNotFound(address);
    const json = toObjectJson(record);
    print(invocation, json, formatTable(metadataRows(json)));
  },
});

function metadataRows(object: ReturnType<typeof toObjectJson>): string[][] {
  const { httpMetadata, customMetadata, checksums, s3Checksums = {}, ...rest } = object;
  const rows = Object.entries({ ...rest, ...httpMetadata });
  return [
    ...rows,
    ...Object.entries({ ...checksums, ...s3Checksums }),
    ...Object.entries(customMetadata).map(([name, value]) => [`custom: ${name}`, value]),
  ].map((row) => row.map((value) => shown(String(value))));
}

export interface HttpMetadataJson extends Omit<HttpMetadata, "cacheExpiry"> {
  /** ISO 8601 */
  readonly cacheExpiry?: string;
}

/** An object as `--json` prints it and as a manifest holds it, with the names of the binding. */
export function toObjectJson(record: ObjectRecord) {
  const { key, size, etag, version, uploaded, checksums, s3Checksums, storageClass } = record;
  const { cacheExpiry, ...text } = record.http ?? {};
  return {
    key,
    size,
    etag,
    version,
    uploaded: new Date(uploaded).toISOString(),
    httpMetadata: {
      ...text,
      ...(cacheExpiry !== undefined && { cacheExpiry: new Date(cacheExpiry).toISOString() }),
    },
    customMetadata: record.custom ?? {},
    checksums,
    s3Checksums,
    storageClass,
  };
}

export function fromHttpJson({ cacheExpiry, ...text }: HttpMetadataJson): HttpMetadata {
  return { ...text, ...(cacheExpiry !== undefined && { cacheExpiry: Date.parse(cacheExpiry) }) };
}
