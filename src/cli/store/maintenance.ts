/** `ledge store stats`, `check`, `gc` and `reset`: whole buckets. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { counted, formatBytes, formatTable } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import { activeRuns } from "../../state/runs.ts";
import { isAbandoned } from "../../store/core/content.ts";
import { listLimitMax } from "../../store/core/limits.ts";
import type { UploadReference } from "../../store/core/operations.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { checkBucket, type BucketReport, type Damage } from "../../store/node/check-bucket.ts";
import { requireRemote } from "../../store/node/remote-buckets.ts";
import { describeService } from "../../store/remote/remote-gaps.ts";
import type { RemoteAccess } from "../../store/remote/remote-options.ts";
import { checkRemote, type RemoteReport } from "../../store/node/check-remote.ts";
import {
  databaseFolder,
  databasePath,
  foreignMarks,
  integrityProblems,
  openDatabaseFile,
  removePartialFiles,
} from "../../store/node/store-files.ts";
import { exitCode, UsageError } from "../command.ts";
import { confirm, print, printRemark } from "../output.ts";
import { deletePrefix } from "./objects.ts";
import {
  blobFolder,
  bucketsArgument,
  bucketSummary,
  dryRunOption,
  filesIn,
  findBucket,
  storeCommand,
  type OpenStore,
  type StoreProject,
} from "./open-store.ts";

export const stats = storeCommand({
  name: "stats",
  summary: "Counts objects, bytes, uploads and the space on disk",
  arguments: [["[BUCKET]", bucketSummary]],

  async run(invocation, store, ...words) {
    const counts = [];
    for (const bucket of store.buckets(words)) {
      const { name, known } = bucket;
      const count = await bucket.call({ method: "stats" });
      const onDisk = known.remote === undefined ? await bytesOnDisk(store, name) : null;
      counts.push({ name, ...count, bytesOnDisk: onDisk });
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
  },
});

/** The database and the blobs, including blobs that no object refers to any more. */
async function bytesOnDisk({ project }: OpenStore, bucketName: string): Promise<number> {
  const path = databasePath(project.folder, bucketName);
  const blobs = await filesIn(blobFolder(project, bucketName));
  const databases = await filesIn(dirname(path));
  const database = databases.filter(({ name }) => name.startsWith(basename(path)));
  return [...blobs, ...database].reduce((sum, { bytes }) => sum + bytes, 0);
}

export const check = storeCommand({
  name: "check",
  summary: "Verifies the databases, and the hash of every object and part",
  details:
    "Reads all of the store and changes nothing. Scripts can use the store meanwhile. The exit code\n" +
    "is 1 if something is damaged. docs/reliability.md says which damage a read notices by itself.\n" +
    "A bucket on an S3 service is read over the network, so it is checked only if it is named.",
  arguments: [bucketsArgument],
  options: {
    "--probe":
      "Asks S3 services what they honour instead, by objects that the probe writes and removes",
  },
  examples: ["ledge store check", "ledge store check photos", "ledge store check --probe"],

  async run(invocation, { project, bucket }, ...words) {
    const known =
      words.length === 0 ? project.buckets : words.map((word) => findBucket(project.buckets, word));
    // Only a remote bucket is opened: the check reads the database of a local bucket by itself.
    const remotes = known.filter(({ remote }) => remote !== undefined);
    if (invocation.flag("probe")) {
      const accesses = remotes.flatMap(({ remote }) => remote ?? []);
      const found = await Promise.all(
        accesses.map(async ({ credentials: _credentials, accept: _accept, ...place }, index) => ({
          place,
          features: await requireRemote(accesses[index] as RemoteAccess, {
            storeFolder: project.folder,
            isAsked: true,
          }),
        })),
      );
      const lines = found.flatMap(({ place, features }) => describeService(place, features));
      print(invocation, { services: found }, lines.join("\n"));
      return exitCode.done;
    }
    const progress = new Progress("Checking");
    const onObject = (bytes: number): void => progress.add(bytes);
    const runs = (): string[] => activeRuns(project.folder);
    const reports: (BucketReport | RemoteReport)[] = [];
    try {
      for (const { bucketName } of known.filter(({ remote }) => remote === undefined)) {
        const checked = { storeFolder: project.folder, bucketName, activeRuns: runs, onObject };
        reports.push(await checkBucket(checked));
      }
      for (const { bucketName } of words.length === 0 ? [] : remotes) {
        reports.push(await checkRemote(bucket(bucketName), onObject));
      }
    } finally {
      progress.end();
    }
    const others = words.length === 0 ? otherDamages(project) : [];
    const lines = [
      ...reports.flatMap(reportLines),
      ...others.map(({ problem }) => problem),
      ...(words.length > 0 ? [] : remotes).map(
        ({ bucketName, remote }) =>
          `${bucketName}: not checked, on the remote "${remote?.remote}": ledge store check ${bucketName} reads it.`,
      ),
    ];
    print(invocation, { buckets: reports, others }, lines.join("\n"));
    const isDamaged = others.length > 0 || reports.some(({ damages }) => damages.length > 0);
    return isDamaged ? exitCode.failed : exitCode.done;
  },
});

function reportLines(report: BucketReport | RemoteReport): string[] {
  const { name, objects, bytes, damages } = report;
  const state = damages.length === 0 ? "intact" : counted(damages.length, "problem");
  const hasKeys = damages.some(({ key }) => key !== undefined);
  const remarks = [
    ...damages.map(({ key, problem }) => (key === undefined ? problem : `"${key}": ${problem}.`)),
    ...(hasKeys
      ? ["Put each damaged object again, or delete it: ledge store put, ledge store delete."]
      : []),
    ...("database" in report ? localRemarks(report) : remoteRemarks(report)),
  ];
  return [
    `${name}: ${counted(objects, "object")}, ${formatBytes(bytes)}: ${state}.`,
    ...remarks.map((remark) => `  ${remark}`),
  ];
}

function localRemarks({ database, damages, garbage, remarks }: BucketReport): string[] {
  const isDatabaseDamaged = damages.some(({ key }) => key === undefined);
  const unused = `${counted(garbage.files, "unused file")} (${formatBytes(garbage.bytes)})`;
  return [
    ...(isDatabaseDamaged
      ? [
          `To recover, stop the processes that use the store, and restore ${database} from a backup.`,
        ]
      : []),
    ...remarks,
    ...(garbage.files > 0
      ? [`${unused} of ended runs: the next start or ledge store gc removes unused files.`]
      : []),
  ];
}

function remoteRemarks({ otherWriters, unverified }: RemoteReport): string[] {
  return [
    ...objectsRemark(otherWriters, "of other programs"),
    ...objectsRemark(
      unverified,
      "in parts of different sizes, which have no hash of their content",
    ),
  ];
}

function objectsRemark({ count, keys }: RemoteReport["otherWriters"], what: string): string[] {
  const shown = keys.map((key) => `"${key}"`).join(", ");
  const more = count > keys.length ? `, and ${count - keys.length} more` : "";
  return count === 0 ? [] : [`${counted(count, "object")} ${what}: ${shown}${more}.`];
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

export const collectGarbage = storeCommand({
  name: "gc",
  summary: "Removes the files that crashed runtimes have left",
  details:
    "A runtime does the same by itself when it opens a bucket for the first time. The files of a\n" +
    "database that was lost, or replaced by an older copy, stay, because the right database would\n" +
    "name them: --lost gives them up.",
  options: { "--lost": "Also removes the files of a database that was lost or is newer" },

  async run(invocation, { project, bucket, local }) {
    // Opening a bucket may remove files before `collectGarbage()` does; those count too.
    const before = await abandonedFiles(project);
    for (const { bucketName, remote } of project.buckets) {
      // The service of a remote bucket has no files of a runtime.
      if (remote !== undefined) continue;
      // A bucket that cannot be opened collects nothing. A read says why.
      await bucket(bucketName).call({ method: "head", key: "-" });
      await local().collectGarbage(bucketName);
      const marks = await foreignMarks(project.folder, bucketName);
      if (marks.length === 0) continue;
      if (!invocation.flag("lost")) {
        printRemark(
          `The files of "${bucketName}" are kept, because its database was lost or replaced: run ` +
            `"ledge store check ${bucketName}", or give the files up with --lost.`,
        );
        continue;
      }
      for (const mark of marks) await rm(mark, { force: true });
      await local().collectGarbage(bucketName);
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
  },
});

/** Blobs of runs that have ended. */
async function abandonedFiles(project: StoreProject): Promise<{ name: string; bytes: number }[]> {
  const folders = project.buckets.map(({ bucketName }) => filesIn(blobFolder(project, bucketName)));
  const files = (await Promise.all(folders)).flat();
  const runIds = activeRuns(project.folder);
  return files.filter(({ name }) => isAbandoned(name, runIds));
}

export const reset = storeCommand({
  name: "reset",
  summary: "Deletes all objects and uploads",
  details:
    "Other machines may use a bucket on an S3 service, so such a bucket is emptied only if it is named.",
  arguments: [bucketsArgument],
  options: { "-y, --yes": "Deletes without asking", ...dryRunOption },

  async run(invocation, store, ...words) {
    const dryRun = invocation.flag("dry-run");
    const isConfirmed = invocation.flag("yes") || dryRun;
    if (!isConfirmed && !process.stdin.isTTY) {
      throw new UsageError(
        "This command deletes everything: confirm with --yes, or count with --dry-run.",
      );
    }
    const opened = store.buckets(words);
    const buckets = words.length > 0 ? opened : opened.filter(({ known }) => !known.remote);
    const names = buckets.map(({ name }) => `"${name}"`).join(", ");
    if (!isConfirmed && !(await confirm(`Delete everything in ${names}?`))) {
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
  },
});

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
