/** `ledge store`: the buckets of a project, from the command line. */
import type { Argument, CommandGroup, LeafCommand, Option } from "./command.ts";

const place: Record<string, Option> = {
  config: { summary: "The configuration file", value: "FILE", short: "c" },
  env: { summary: "The environment of the configuration", value: "NAME", short: "e" },
  "persist-to": {
    summary: "The folder that holds the state",
    value: "DIR",
    otherwise: ".wrangler/state",
  },
  json: { summary: "Prints JSON" },
};

const work = () => import("./store/commands/index.ts");

const bucket: Argument = { name: "BUCKET", summary: "A bucket's name, or that of its binding" };
const object: Argument = { name: "BUCKET/KEY", summary: "The object" };
const storageClass: Option = {
  summary: "Standard or InfrequentAccess",
  value: "CLASS",
  otherwise: "the bucket's",
};
const dryRun: Option = { summary: "Says what would be deleted, and deletes nothing" };

const buckets: LeafCommand = {
  name: "buckets",
  summary: "Lists the buckets of the configuration and those on disk",
  options: place,
  async run(invocation) {
    (await work()).listBuckets(invocation);
  },
};

const list: LeafCommand = {
  name: "list",
  summary: "Lists objects by key",
  details: "With --json, each object is a line.",
  arguments: [bucket],
  options: {
    prefix: { summary: "Only keys that begin so", value: "PREFIX" },
    delimiter: { summary: "Keys are shown up to this, once", value: "TEXT" },
    ...place,
  },
  examples: ["ledge store list photos --prefix 2026/ --delimiter /"],
  async run(invocation) {
    await (await work()).listObjects(invocation);
  },
};

const head: LeafCommand = {
  name: "head",
  summary: "Shows what is known of an object",
  arguments: [object],
  options: place,
  async run(invocation) {
    await (await work()).headObject(invocation);
  },
};

const get: LeafCommand = {
  name: "get",
  summary: "Writes an object to a file",
  arguments: [
    object,
    {
      name: "FILE",
      summary: 'Where to; "-" is standard output, and without it the name is the key\'s last part',
      optional: true,
    },
  ],
  options: place,
  examples: ["ledge store get photos/cat.png", "ledge store get photos/notes.txt - | wc"],
  async run(invocation) {
    await (await work()).getObject(invocation);
  },
};

const put: LeafCommand = {
  name: "put",
  summary: "Puts a file into a bucket",
  arguments: [object, { name: "FILE", summary: 'What to put; "-" is standard input' }],
  options: {
    "content-type": {
      summary: "What the content is",
      value: "TYPE",
      otherwise: "what the name says",
    },
    "content-language": { summary: "The language of the content", value: "TEXT" },
    "content-disposition": { summary: "How a browser presents it", value: "TEXT" },
    "content-encoding": { summary: "How the content is packed", value: "TEXT" },
    "cache-control": { summary: "What caches may do", value: "TEXT" },
    expires: { summary: "When copies expire", value: "DATE" },
    metadata: { summary: "Custom metadata", value: "NAME=VALUE", repeated: true },
    "storage-class": storageClass,
    ...place,
  },
  examples: [
    "ledge store put photos/cat.png ./cat.png --metadata owner=me",
    "date | ledge store put photos/now.txt -",
  ],
  async run(invocation) {
    await (await work()).putObject(invocation);
  },
};

const remove: LeafCommand = {
  name: "delete",
  summary: "Deletes objects",
  details: "An object that is not there counts as deleted.",
  arguments: [
    {
      name: "BUCKET/KEY",
      summary: "The objects; with --prefix, the bucket alone",
      repeated: true,
    },
  ],
  options: {
    prefix: { summary: "All keys that begin so", value: "PREFIX" },
    "dry-run": dryRun,
    ...place,
  },
  examples: ["ledge store delete photos/cat.png", "ledge store delete photos --prefix 2025/"],
  async run(invocation) {
    await (await work()).deleteObjects(invocation);
  },
};

const cp: LeafCommand = {
  name: "cp",
  summary: "Copies an object, with its metadata",
  arguments: [
    { name: "BUCKET/KEY", summary: "What to copy" },
    { name: "BUCKET/KEY", summary: "Where to" },
  ],
  options: {
    "storage-class": { ...storageClass, otherwise: "the object's" },
    ...place,
  },
  examples: ["ledge store cp photos/cat.png archive/2026/cat.png"],
  async run(invocation) {
    await (await work()).copyObject(invocation);
  },
};

const importCommand: LeafCommand = {
  name: "import",
  summary: "Puts the files of a folder into a bucket",
  details:
    "The path of a file is its key. A folder that export wrote gives back the keys and the\n" +
    "metadata that it took. What is there already is left as it is, so an import that was\n" +
    "stopped can be run again.",
  arguments: [bucket, { name: "DIR", summary: "The folder" }],
  options: {
    prefix: { summary: "Stands before every key", value: "PREFIX" },
    "storage-class": { ...storageClass, summary: "Of files that no manifest knows" },
    ...place,
  },
  examples: ["ledge store import photos ./public --prefix static/"],
  async run(invocation) {
    return (await work()).importObjects(invocation);
  },
};

const exportCommand: LeafCommand = {
  name: "export",
  summary: "Writes a bucket's objects to a folder",
  details:
    "A key is the path of its file where it can be; .ledge-metadata.jsonl has the metadata,\n" +
    "and the keys that cannot be. What is there already is not fetched again.",
  arguments: [bucket, { name: "DIR", summary: "The folder" }],
  options: {
    prefix: { summary: "Only keys that begin so", value: "PREFIX" },
    ...place,
  },
  examples: ["ledge store export photos ./backup"],
  async run(invocation) {
    return (await work()).exportObjects(invocation);
  },
};

const stats: LeafCommand = {
  name: "stats",
  summary: "Counts objects, bytes, uploads and the space on disk",
  arguments: [{ ...bucket, optional: true }],
  options: place,
  async run(invocation) {
    await (await work()).showStats(invocation);
  },
};

const gc: LeafCommand = {
  name: "gc",
  summary: "Removes what crashed runtimes have left",
  details: "It happens by itself as well, when a bucket is used for the first time in a runtime.",
  options: place,
  async run(invocation) {
    await (await work()).collectGarbage(invocation);
  },
};

const reset: LeafCommand = {
  name: "reset",
  summary: "Deletes all objects and uploads",
  arguments: [
    { ...bucket, summary: "The buckets; all without it", optional: true, repeated: true },
  ],
  options: {
    yes: { summary: "Does not ask", short: "y" },
    "dry-run": dryRun,
    ...place,
  },
  async run(invocation) {
    return (await work()).resetBuckets(invocation);
  },
};

export const store: CommandGroup = {
  name: "store",
  summary: "The buckets of a project: list, put, get, import, export",
  commands: [
    buckets,
    list,
    head,
    get,
    put,
    remove,
    cp,
    importCommand,
    exportCommand,
    stats,
    gc,
    reset,
  ],
};
