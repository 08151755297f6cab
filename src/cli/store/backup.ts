/** `ledge store backup` and `restore`: copies of whole buckets. */
import { resolve } from "node:path";
import { counted, formatBytes } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import { backupBuckets, readBackup, type BackedUpBucket } from "../../store/node/backup.ts";
import { restoreBuckets } from "../../store/node/restore.ts";
import { exitCode, UsageError, type Invocation } from "../command.ts";
import { confirm, print, printRemark } from "../output.ts";
import { bucketSummary, findBucket, storeCommand, type OpenStore } from "./open-store.ts";

const bucketOption = (what: string) => ({
  "--bucket BUCKET...": `${bucketSummary}; ${what}`,
});

export const backup = storeCommand({
  name: "backup",
  summary: "Writes a backup of the buckets to a folder",
  details:
    "The backup has every object with its version, time, checksums and metadata, the uploads in\n" +
    "progress, and the rules of the bucket. Scripts can use the buckets meanwhile: the backup of a\n" +
    "bucket is its state at one moment. The backup is verified when it is written. A backup that is\n" +
    "interrupted is none; the next to the same folder replaces it. Buckets on S3 services are left out.",
  arguments: [["FOLDER", "The folder of the backup, which is empty or does not exist"]],
  options: bucketOption("by default all that are in the state folder"),
  examples: ["ledge store backup ./backup", "ledge store backup ./backup --bucket photos"],

  async run(invocation, store, folder) {
    const { project, local } = store;
    const words = invocation.list("bucket");
    const remotes = project.buckets.filter(({ remote }) => remote !== undefined);
    const bucketNames =
      words === undefined
        ? project.buckets.filter((each) => !remotes.includes(each)).map((each) => each.bucketName)
        : [...new Set(words.map((word) => localBucket(store, word)))];
    // Makes the folders of configured buckets that were not used yet.
    for (const name of bucketNames) store.bucket(name);
    const buckets = await withProgress("Backing up", (onFile) =>
      backupBuckets({
        local: local(),
        storeFolder: project.folder,
        bucketNames,
        folder: resolve(folder),
        onFile,
      }),
    );
    if (words === undefined && remotes.length > 0) {
      const names = remotes.map(({ bucketName }) => `"${bucketName}"`).join(", ");
      printRemark(`Not in the backup, because they are on S3 services: ${names}.`);
    }
    report(invocation, buckets, "Backed up");
  },
});

export const restore = storeCommand({
  name: "restore",
  summary: "Replaces buckets by those of a backup",
  details:
    "Each bucket is replaced as a whole: objects that are not in the backup are gone afterwards.\n" +
    "The backup is verified before anything is changed. Scripts can use the buckets meanwhile, and\n" +
    "see a bucket as it was or restored. On a terminal, the command asks before it replaces objects.",
  arguments: [["FOLDER", 'The folder of "ledge store backup"']],
  options: {
    ...bucketOption("by default all of the backup"),
    "-y, --yes": "Replaces without asking",
  },
  examples: ["ledge store restore ./backup", "ledge store restore ./backup --bucket photos"],

  async run(invocation, store, given) {
    const folder = resolve(given);
    const { project, local } = store;
    const words = invocation.list("bucket");
    const known = readBackup(folder).map(({ name }) => name);
    const bucketNames = [
      ...new Set(
        (words ?? known).map((word) => (known.includes(word) ? word : localBucket(store, word))),
      ),
    ];
    for (const name of bucketNames) {
      if (project.buckets.some(({ bucketName }) => bucketName === name)) localBucket(store, name);
    }
    if (!invocation.flag("yes") && process.stdin.isTTY && !(await isAgreed(store, bucketNames))) {
      printRemark("Nothing was changed.");
      return exitCode.failed;
    }
    const storeFolder = project.folder;
    const buckets = await withProgress("Restoring", (onFile) =>
      restoreBuckets({ local: local(), storeFolder, bucketNames, folder, onFile }),
    );
    report(invocation, buckets, "Restored");
    return exitCode.done;
  },
});

/** @throws UsageError for a bucket on an S3 service */
function localBucket({ project }: OpenStore, word: string): string {
  const { bucketName, remote } = findBucket(project.buckets, word);
  if (remote === undefined) return bucketName;
  throw new UsageError(
    `The bucket "${bucketName}" is on the remote "${remote.remote}", not in the state folder. Copy ` +
      `its objects with "ledge store export ${bucketName} DIR".`,
  );
}

/** Asks if objects would be replaced. */
async function isAgreed(store: OpenStore, names: readonly string[]): Promise<boolean> {
  const present = names.filter((name) =>
    store.project.buckets.some(({ bucketName }) => bucketName === name),
  );
  let objects = 0;
  for (const name of present) {
    objects += (await store.bucket(name).call({ method: "stats" })).objects;
  }
  const list = present.map((name) => `"${name}"`).join(", ");
  return objects === 0 || confirm(`Replace ${counted(objects, "object")} in ${list}?`);
}

async function withProgress<Result>(
  label: string,
  work: (onFile: (bytes: number) => void) => Promise<Result>,
): Promise<Result> {
  const progress = new Progress(label);
  try {
    return await work((bytes) => progress.add(bytes));
  } finally {
    progress.end();
  }
}

function report(
  invocation: Invocation,
  buckets: readonly BackedUpBucket[],
  verb: "Backed up" | "Restored",
): void {
  const lines = buckets.map(({ name, objects, bytes, uploads }) => {
    const inProgress = uploads === 0 ? "" : ` and ${counted(uploads, "upload")} in progress`;
    return `${verb} ${name}: ${counted(objects, "object")}, ${formatBytes(bytes)}${inProgress}.`;
  });
  print(invocation, buckets, lines.join("\n") || "There is no bucket in the state folder.");
}
