/**
 * Verifies a bucket: the database, its rows against the files, and the hash of every content.
 *
 * The owner may write meanwhile. Every query sees one state of the database, but the files change
 * on: an object that was replaced after its row was read has lost its file. So before an object
 * counts as damaged, its row is read again, and a row that has changed is verified anew.
 */
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../../base/user-error.ts";
import { formatVersion, otherFormatText } from "../../core/errors.ts";
import { bucketFolder, databaseMark, isAbandoned, isDatabaseMark } from "../../core/content.ts";
import { BucketRows, type CheckedRow } from "./bucket-rows.ts";
import { ContentCheck } from "./content-check.ts";
import { databasePath } from "../store-files.ts";
import { integrityProblems, openDatabaseFile } from "../store-files.ts";

export interface Damage {
  /** Absent for damage that is not that of one object. */
  readonly key?: string;
  readonly problem: string;
}

export interface BucketReport {
  readonly name: string;
  /** The path of the database. */
  readonly database: string;
  objects: number;
  bytes: number;
  readonly damages: Damage[];
  /** What is not damage, and takes space: files and content that nothing names. */
  readonly garbage: { files: number; bytes: number };
  readonly remarks: string[];
}

interface CheckedBucket {
  readonly storeFolder: string;
  readonly bucketName: string;
  /** The runs whose files may not be named yet. */
  readonly activeRuns: () => readonly string[];
  readonly onObject: (bytes: number) => void;
}

/** How often an object that is replaced all the time is looked at. */
const attemptsMax = 20;

/** @throws UserError for a database of another format */
export async function checkBucket(checked: CheckedBucket): Promise<BucketReport> {
  const { storeFolder, bucketName } = checked;
  const path = databasePath(storeFolder, bucketName);
  const blobs = join(storeFolder, "blobs", bucketFolder(bucketName));
  const report: BucketReport = {
    name: bucketName,
    database: path,
    objects: 0,
    bytes: 0,
    damages: [],
    garbage: { files: 0, bytes: 0 },
    remarks: [],
  };
  // Files before rows: a file is written before the row that names it.
  const files = await readdir(blobs).catch(() => []);
  const activeRuns = checked.activeRuns();
  const ended = files.filter((name) => isAbandoned(name, activeRuns));
  if (!existsSync(path)) {
    if (ended.length > 0) report.damages.push({ problem: lostDatabase(path, ended.length) });
    return report;
  }
  let rows: BucketRows | undefined;
  try {
    const database = openDatabaseFile(path);
    const problems = integrityProblems(database);
    report.damages.push(
      ...problems.map((problem) => ({ problem: `The database is damaged: ${problem}` })),
    );
    rows = new BucketRows(database);
    if (rows.version !== formatVersion) {
      throw new UserError(otherFormatText(bucketName, rows.version));
    }
    await checkObjects(rows, new ContentCheck(rows, blobs), checked, report);
    await checkUploads(rows, new ContentCheck(rows, blobs), report);
    checkReferences(rows, report);
    await checkFiles(rows, { blobs, files, ended }, report);
  } catch (error) {
    if (error instanceof UserError) throw error;
    report.damages.push({ problem: `The database cannot be read: ${(error as Error).message}.` });
  } finally {
    rows?.close();
  }
  return report;
}

async function checkObjects(
  rows: BucketRows,
  check: ContentCheck,
  { onObject }: CheckedBucket,
  report: BucketReport,
): Promise<void> {
  const verify = async (row: CheckedRow): Promise<void> => {
    const problem = await confirmedProblem(rows, check, row);
    const bytes = sizeOf(row);
    report.objects++;
    report.bytes += bytes;
    onObject(bytes);
    if (problem !== null) report.damages.push({ key: row.key, problem });
  };
  let after: string | null = null;
  try {
    for (;;) {
      const page: CheckedRow[] = rows.objects({ after });
      for (const row of page) await verify(row);
      after = page.at(-1)?.key ?? null;
      if (after === null) return;
    }
  } catch (error) {
    const problem = `The objects after "${after ?? ""}" cannot be read: ${(error as Error).message}.`;
    report.damages.push({ problem });
  }
  // A damaged page ends the way forward. The way back finds the objects on the other side of it.
  try {
    let before: string | null = null;
    for (;;) {
      const page: CheckedRow[] = rows.objects({ before });
      for (const row of page) {
        if (after !== null && row.key <= after) return;
        await verify(row);
      }
      before = page.at(-1)?.key ?? null;
      if (before === null) return;
    }
  } catch {
    // The damage is reported.
  }
}

/** The problem of an object whose row is still the same. */
async function confirmedProblem(
  rows: BucketRows,
  check: ContentCheck,
  first: CheckedRow,
): Promise<string | null> {
  let row = first;
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const problem = await check.objectProblem(row);
    if (problem === null) return null;
    const again = rows.object(row.key);
    if (again === null || isSameRow(row, again)) return again === null ? null : problem;
    row = again;
  }
  return null;
}

function isSameRow(one: CheckedRow, other: CheckedRow): boolean {
  return (
    one.fields === other.fields &&
    one.metadata === other.metadata &&
    one.body === other.body &&
    one.segments === other.segments
  );
}

function sizeOf({ fields }: CheckedRow): number {
  try {
    const [, size] = JSON.parse(fields) as [string, unknown];
    return typeof size === "number" ? size : 0;
  } catch {
    return 0;
  }
}

async function checkUploads(
  rows: BucketRows,
  check: ContentCheck,
  report: BucketReport,
): Promise<void> {
  let afterUpload = "";
  for (;;) {
    const uploads = rows.uploads(afterUpload);
    for (const upload of uploads) {
      await checkParts(rows, check, upload, report);
      afterUpload = upload.uploadId;
    }
    if (uploads.length === 0) return;
  }
}

async function checkParts(
  rows: BucketRows,
  check: ContentCheck,
  { uploadId, key }: { uploadId: string; key: string },
  report: BucketReport,
): Promise<void> {
  let after = 0;
  for (;;) {
    const parts = rows.parts(uploadId, after);
    for (const part of parts) {
      after = part.partNumber;
      const problem = await check.partProblem(part);
      if (problem === null) continue;
      // The part may have been uploaded again, or the upload completed.
      const [again] = rows.parts(uploadId, part.partNumber - 1);
      if (again?.partNumber !== part.partNumber || again.place !== part.place) continue;
      report.damages.push({
        key,
        problem: `part ${part.partNumber} of its upload is damaged: ${problem}`,
      });
    }
    if (parts.length === 0) return;
  }
}

/** Compares the table of the files with the rows that name files. */
function checkReferences(rows: BucketRows, report: BucketReport): void {
  for (const name of rows.filesWithoutEntry()) {
    report.damages.push({
      problem: `An object names the file "${name}", which is not in the table of the files.`,
    });
  }
  const files = rows.entriesWithoutReference().length;
  if (files > 0) report.remarks.push(`No object names ${files} entries of the table of the files.`);
  const bodies = rows.countBodiesWithoutReference();
  if (bodies > 0) report.remarks.push(`No object names ${bodies} contents in the database.`);
}

async function checkFiles(
  rows: BucketRows,
  { blobs, files, ended }: { blobs: string; files: readonly string[]; ended: readonly string[] },
  report: BucketReport,
): Promise<void> {
  const unnamed = rows.unnamed(ended);
  for (const name of unnamed) {
    const found = await stat(join(blobs, name)).catch(() => null);
    if (found === null) continue;
    report.garbage.files++;
    report.garbage.bytes += found.size;
  }
  const ownMark = rows.databaseId === null ? null : databaseMark(rows.databaseId);
  const isForeign = files.some((name) => isDatabaseMark(name) && name !== ownMark);
  if (isForeign && report.garbage.files > 0) {
    report.damages.push({ problem: lostDatabase(report.database, report.garbage.files) });
  }
}

function lostDatabase(path: string, files: number): string {
  return (
    `The database that names ${files} of the bucket's files is lost or was replaced. The files ` +
    `are kept. Restore ${path} from a backup, or give the files up with "ledge store gc --lost".`
  );
}
