/** `ledge store check` */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { counted, formatBytes } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import type { BucketReport, Damage } from "../../store/node/check/check-bucket.ts";
import type { RemoteReport } from "../../store/node/check/check-remote.ts";
import { exitCode, type LeafCommand } from "../command.ts";
import { projectOptions } from "../options.ts";
import { print } from "../output.ts";
import { findBucket, type KnownBucket } from "./known-buckets.ts";
import { findProject, type StoreProject } from "./open-store.ts";
import { bucketArgument } from "./parameters.ts";

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
    const [project, { checkBucket }, { RunRecords }] = await Promise.all([
      findProject(invocation),
      import("../../store/node/check/check-bucket.ts"),
      import("../../state/runs.ts"),
    ]);
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
        const { checkRemotes } = await import("./check-remotes.ts");
        remoteReports.push(...(await checkRemotes(remotes, (bytes) => progress.add(bytes))));
      }
    } finally {
      progress.end();
    }
    const others = words.length === 0 ? await otherDamages(project) : [];
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
async function otherDamages({ folder }: StoreProject): Promise<Damage[]> {
  const { databaseFolder, integrityProblems, openDatabaseFile } =
    await import("../../store/node/check/database-file.ts");
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
