/** `ledge store buckets`, `stats`, `check`, `gc` and `reset`: whole buckets. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { counted, formatBytes, formatTable } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import { RunRecords } from "../../state/runs.ts";
import { databaseMark, isAbandoned, isDatabaseMark } from "../../store/core/content.ts";
import { listLimitMax } from "../../store/core/limits.ts";
import type { UploadReference } from "../../store/core/operations.ts";
import { asUserError } from "../../store/node/bucket-objects.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { checkBucket, type BucketReport, type Damage } from "../../store/node/check-bucket.ts";
import { checkRemote, type RemoteReport } from "../../store/node/check-remote.ts";
import { RemoteBuckets } from "../../store/node/remote-buckets.ts";
import {
  databaseFolder,
  databasePath,
  integrityProblems,
  openDatabaseFile,
  readDatabaseId,
  removePartialFiles,
} from "../../store/node/store-files.ts";
import { exitCode, projectOptions, UsageError, type LeafCommand } from "../command.ts";
import { confirm, print, printRemark } from "../output.ts";
import { withCleanup } from "../run.ts";
import { deletePrefix } from "./objects.ts";
import {
  blobFolder,
  bucketArgument,
  dryRunOption,
  filesIn,
  findBucket,
  findProject,
  withStore,
  type KnownBucket,
  type OpenStore,
  type StoreProject,
} from "./open-store.ts";

export const listBuckets: LeafCommand = {
  name: "buckets",
  summary: "Lists the buckets of the configuration and the buckets on disk",
  options: projectOptions,

  async run(invocation) {
    const project = findProject(invocation);
    print(
      invocation,
      project.buckets.map(({ bucketName, bindings, storageClass, remote }) => ({
        name: bucketName,
        bindings,
        storageClass,
        remote: remote?.remote,
        endpoint: remote?.endpoint,
      })),
      formatTable(
        project.buckets.map(({ bucketName, bindings, remote }) => [
          bucketName,
          bindings.length === 0
            ? "(not configured)"
            : bindings.map((name) => `env.${name}`).join(", "),
          remote === undefined ? "" : `on ${remote.remote}, ${remote.endpoint}`,
        ]),
      ),
    );
  },
};

export const stats: LeafCommand = {
  name: "stats",
  summary: "Counts objects, bytes, uploads and the space on disk",
  arguments: [{ ...bucketArgument, optional: true }],
  options: projectOptions,

  async run(invocation) {
    await withStore(invocation, async (store) => {
      const counts = [];
      for (const bucket of store.buckets(invocation.arguments)) {
        const { name, known } = bucket;
        const count = await bucket.call({ method: "stats" });
        const isRemote = known.remote !== undefined;
        counts.push({
          name,
          ...count,
          bytesOnDisk: isRemote ? null : await bytesOnDisk(store, name),
        });
      }
      const rows = counts.map(({ name, objects, bytes, uploads, bytesOnDisk: onDisk }) => [
        name,
        objects,
        formatBytes(bytes),
        uploads,
        onDisk === null ? "-" : formatBytes(onDisk),
      ]);
      const header = ["bucket", "objects", "size", "uploads", "on disk"];
      print(invocation, counts, rows.length === 0 ? "" : formatTable([header, ...rows]));
    });
  },
};

/** The database and the blobs, including blobs that no object refers to any more. */
async function bytesOnDisk({ project }: OpenStore, bucketName: string): Promise<number> {
  const path = databasePath(project.folder, bucketName);
  const blobs = await filesIn(blobFolder(project, bucketName));
  const databases = await filesIn(dirname(path));
  const database = databases.filter(({ name }) => name.startsWith(basename(path)));
  return [...blobs, ...database].reduce((sum, { bytes }) => sum + bytes, 0);
}

export const check: LeafCommand = {
  name: "check",
  summary: "Verifies the databases, and the hash of every object and part",
  details:
    "Reads all of the store and changes nothing. Scripts can use the store meanwhile. The exit code\n" +
    "is 1 if something is damaged. docs/reliability.md says which damage a read notices by itself.\n" +
    "A bucket on an S3 service is read over the network, so it is checked only if it is named.",
  arguments: [
    {
      ...bucketArgument,
      summary: "The buckets; by default all that are in the state folder",
      optional: true,
      repeated: true,
    },
  ],
  options: projectOptions,
  examples: ["ledge store check", "ledge store check photos"],

  async run(invocation) {
    const project = findProject(invocation);
    const words = invocation.arguments;
    const buckets =
      words.length === 0 ? project.buckets : words.map((word) => findBucket(project.buckets, word));
    const progress = new Progress("Checking");
    const reports: BucketReport[] = [];
    const remoteReports: RemoteReport[] = [];
    const remotes = buckets.filter(({ remote }) => remote !== undefined);
    try {
      for (const { bucketName, remote } of buckets) {
        if (remote !== undefined) continue;
        reports.push(
          await checkBucket({
            storeFolder: project.folder,
            bucketName,
            activeRuns: () => new RunRecords(project.folder).activeIds(),
            onObject: (bytes) => progress.add(bytes),
          }),
        );
      }
      if (words.length > 0 && remotes.length > 0) {
        remoteReports.push(...(await checkRemotes(remotes, (bytes) => progress.add(bytes))));
      }
    } finally {
      progress.end();
    }
    const others = words.length === 0 ? otherDamages(project) : [];
    const lines = [
      ...reports.flatMap(reportLines),
      ...remoteReports.flatMap(remoteLines),
      ...others.map(({ problem }) => problem),
      ...(words.length === 0 ? remotes.map(notChecked) : []),
    ];
    const isDamaged =
      others.length > 0 || [...reports, ...remoteReports].some(({ damages }) => damages.length > 0);
    print(invocation, { buckets: [...reports, ...remoteReports], others }, lines.join("\n"));
    return isDamaged ? exitCode.failed : exitCode.done;
  },
};

const putAgain =
  "Put each damaged object again, or delete it: ledge store put, ledge store delete.";

function reportLines(report: BucketReport): string[] {
  const { name, database, objects, bytes, damages, garbage, remarks } = report;
  const state = damages.length === 0 ? "intact" : counted(damages.length, "problem");
  const keys = damages.filter(({ key }) => key !== undefined);
  return [
    `${name}: ${counted(objects, "object")}, ${formatBytes(bytes)}: ${state}.`,
    ...damages.map((damage) => `  ${damageLine(damage)}`),
    ...(keys.length > 0 ? [`  ${putAgain}`] : []),
    ...(keys.length < damages.length
      ? [
          `  To recover, stop the processes that use the store, and restore ${database} from a backup.`,
        ]
      : []),
    ...remarks.map((remark) => `  ${remark}`),
    ...(garbage.files > 0
      ? [
          `  ${counted(garbage.files, "unused file")} (${formatBytes(garbage.bytes)}) of ended runs: ` +
            "the next start or ledge store gc removes unused files.",
        ]
      : []),
  ];
}

function remoteLines(report: RemoteReport): string[] {
  const { name, objects, bytes, damages, otherWriters, unverified } = report;
  const state = damages.length === 0 ? "intact" : counted(damages.length, "problem");
  return [
    `${name}: ${counted(objects, "object")}, ${formatBytes(bytes)}: ${state}.`,
    ...damages.map((damage) => `  ${damageLine(damage)}`),
    ...(damages.length > 0 ? [`  ${putAgain}`] : []),
    ...(otherWriters.count > 0
      ? [`  ${counted(otherWriters.count, "object")} of other programs: ${keysText(otherWriters)}.`]
      : []),
    ...(unverified.count > 0
      ? [
          `  ${counted(unverified.count, "object")} in parts of different sizes, which have no hash of ` +
            `their content: ${keysText(unverified)}.`,
        ]
      : []),
  ];
}

function keysText({ count, keys }: RemoteReport["otherWriters"]): string {
  const shown = keys.map((key) => `"${key}"`).join(", ");
  return count > keys.length ? `${shown}, and ${count - keys.length} more` : shown;
}

function notChecked({ bucketName, remote }: KnownBucket): string {
  return `${bucketName}: not checked, on the remote "${remote?.remote}": ledge store check ${bucketName} reads it.`;
}

function damageLine({ key, problem }: Damage): string {
  return key === undefined ? problem : `"${key}": ${problem}.`;
}

/** workerd's own database, which holds the times at which buckets are woken. */
function otherDamages({ folder }: StoreProject): Damage[] {
  const path = join(databaseFolder(folder), "metadata.sqlite");
  if (!existsSync(path)) return [];
  let problems: string[];
  try {
    const database = openDatabaseFile(path);
    problems = integrityProblems(database);
    database.close();
  } catch (error) {
    problems = [(error as Error).message];
  }
  return problems.map((problem) => ({
    problem: `${path} is damaged: ${problem}. Stop the processes that use the store, and remove the file.`,
  }));
}

function checkRemotes(
  buckets: readonly KnownBucket[],
  onObject: (bytes: number) => void,
): Promise<RemoteReport[]> {
  const remotes = new RemoteBuckets();
  return withCleanup(
    async () => {
      const reports: RemoteReport[] = [];
      for (const { bucketName, remote } of buckets) {
        if (remote === undefined) continue;
        const bucket = remotes.bucket(bucketName, remote);
        reports.push(await asUserError(checkRemote(bucket, onObject)));
      }
      return reports;
    },
    () => remotes.close(),
  );
}

export const collectGarbage: LeafCommand = {
  name: "gc",
  summary: "Removes the files that crashed runtimes have left",
  details:
    "A runtime does the same by itself when it opens a bucket for the first time. The files of a\n" +
    "database that was lost stay, because a restored database would name them: --lost gives them up.",
  options: {
    lost: { summary: "Also removes the files of a database that was lost" },
    ...projectOptions,
  },

  async run(invocation) {
    await withStore(invocation, async (store) => {
      const { project } = store;
      // Opening a bucket may remove files before `collectGarbage()` does; those count too.
      const before = await abandonedFiles(project);
      for (const { bucketName, remote } of project.buckets) {
        // The service of a remote bucket has no files of a runtime.
        if (remote !== undefined) continue;
        // A bucket that cannot be opened collects nothing. A read says why.
        await store.bucket(bucketName).call({ method: "head", key: "-" });
        await store.local().collectGarbage(bucketName);
        if (!invocation.flag("lost")) continue;
        await removeForeignMarks(project, bucketName);
        await store.local().collectGarbage(bucketName);
      }
      await removePartialFiles(join(project.folder, "blobs"), join(project.folder, "runs"));
      const kept = new Set((await abandonedFiles(project)).map(({ name }) => name));
      const removed = before.filter(({ name }) => !kept.has(name));
      const bytes = removed.reduce((sum, file) => sum + file.bytes, 0);
      print(
        invocation,
        { files: removed.length, bytes },
        `Removed ${counted(removed.length, "unused file")}: ${formatBytes(bytes)}.`,
      );
    });
  },
};

/** Gives up the files of other databases than the bucket's (`store/bucket/garbage-collector.ts`). */
async function removeForeignMarks(project: StoreProject, bucketName: string): Promise<void> {
  const ownMark = databaseMark(readDatabaseId(project.folder, bucketName));
  const folder = blobFolder(project, bucketName);
  for (const { name } of await filesIn(folder)) {
    if (isDatabaseMark(name) && name !== ownMark) await rm(join(folder, name), { force: true });
  }
}

/** Blobs of runs that have ended. */
async function abandonedFiles(project: StoreProject): Promise<{ name: string; bytes: number }[]> {
  const folders = project.buckets.map(({ bucketName }) => filesIn(blobFolder(project, bucketName)));
  const files = (await Promise.all(folders)).flat();
  const runIds = new RunRecords(project.folder).activeIds();
  return files.filter(({ name }) => isAbandoned(name, runIds));
}

export const reset: LeafCommand = {
  name: "reset",
  summary: "Deletes all objects and uploads",
  details:
    "Other machines may use a bucket on an S3 service, so such a bucket is emptied only if it is named.",
  arguments: [
    {
      ...bucketArgument,
      summary: "The buckets; by default all that are in the state folder",
      optional: true,
      repeated: true,
    },
  ],
  options: {
    yes: { summary: "Deletes without asking", short: "y" },
    "dry-run": dryRunOption,
    ...projectOptions,
  },

  async run(invocation) {
    const dryRun = invocation.flag("dry-run");
    const isConfirmed = invocation.flag("yes") || dryRun;
    if (!isConfirmed && !process.stdin.isTTY) {
      throw new UsageError(
        "This command deletes everything: confirm with --yes, or count with --dry-run.",
      );
    }
    return withStore(invocation, async (store) => {
      const words = invocation.arguments;
      const opened = store.buckets(words);
      const buckets = words.length > 0 ? opened : opened.filter(({ known }) => !known.remote);
      if (!isConfirmed && !(await confirm(question(buckets)))) {
        printRemark("Nothing was deleted.");
        return exitCode.failed;
      }
      const results = [];
      for (const bucket of buckets) {
        const objects = await deletePrefix(bucket, "", dryRun);
        const uploads = await abortUploads(bucket, dryRun);
        results.push({ name: bucket.name, objects, uploads, dryRun });
      }
      const lines = results.map(({ name, objects, uploads }) => {
        const counts = `${counted(objects, "object")} and ${counted(uploads, "upload")}`;
        return dryRun ? `${name}: ${counts} would be deleted.` : `${name}: deleted ${counts}.`;
      });
      print(invocation, results, lines.join("\n"));
      return exitCode.done;
    });
  },
};

function question(buckets: readonly Bucket[]): string {
  return `Delete everything in ${buckets.map(({ name }) => `"${name}"`).join(", ")}?`;
}

/** Returns the number of uploads. A dry run only counts them. */
async function abortUploads(bucket: Bucket, dryRun: boolean): Promise<number> {
  let count = 0;
  let after: UploadReference | undefined;
  for (;;) {
    const { uploads, truncated } = await bucket.call({
      method: "listUploads",
      prefix: "",
      limit: listLimitMax,
      after,
    });
    for (const { key, uploadId } of uploads) {
      if (!dryRun) await bucket.call({ method: "abortUpload", key, uploadId });
      count++;
    }
    const last = uploads.at(-1);
    if (!truncated || last === undefined) return count;
    // Aborted uploads leave the listing, so the next page starts at the beginning again.
    if (dryRun) after = { key: last.key, uploadId: last.uploadId };
  }
}
