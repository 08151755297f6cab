/**
 * Verifies a bucket: the database, its rows against the files, and the hash of every content.
 *
 * The owner may write meanwhile. Every query sees one state of the database, but the files change
 * on: an object that was replaced after its row was read has lost its file. So before an object
 * counts as damaged, its row is read again, and a row that has changed is verified anew. Each read of
 * the database is short, so that the log of a database that is written to all the time can be reset
 * meanwhile.
 */
import { createHash, hash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { UserError } from "../../base/user-error.ts";
import {
  bucketFolder,
  decodeSegments,
  describeBlobDamage,
  isAbandoned,
  type Segment,
} from "../core/content.ts";
import { formatVersion, otherFormatText } from "../core/errors.ts";
import { compareKeys } from "../core/key.ts";
import { multipartEtag } from "../core/multipart.ts";
import { decodeObject, joinEncoded } from "../core/object.ts";
import type { ObjectRecord } from "../core/operations.ts";
import { databasePath, foreignMarks, integrityProblems, openDatabaseFile } from "./store-files.ts";

export interface Damage {
  /** Absent for damage that is not that of one object. */
  readonly key?: string;
  readonly problem: string;
}

export interface BucketReport {
  readonly name: string;
  readonly database: string;
  objects: number;
  bytes: number;
  readonly damages: Damage[];
  /** What is not damage, and takes space: files and content that nothing names. */
  readonly garbage: { files: number; bytes: number };
  readonly remarks: string[];
}

interface Check {
  readonly database: DatabaseSync;
  readonly blobs: string;
  readonly report: BucketReport;
}

/** How often an object that is replaced all the time is looked at. */
const attemptsMax = 20;
/** A body has at most 128 KiB, so a page of rows has at most 8 MiB. */
const rowsMax = 64;
const readBytes = 256 * 1024;

/** @throws UserError for a database of another format */
export async function checkBucket({
  storeFolder,
  bucketName,
  ...checked
}: {
  readonly storeFolder: string;
  readonly bucketName: string;
  /** The runs whose files may not be named yet. */
  readonly activeRuns: () => readonly string[];
  readonly onObject: (bytes: number) => void;
}): Promise<BucketReport> {
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
  let database: DatabaseSync | undefined;
  try {
    database = openDatabaseFile(path);
    const check = { database, blobs, report };
    for (const problem of integrityProblems(database)) {
      report.damages.push({ problem: `The database is damaged: ${problem}` });
    }
    const version = readFormat(check);
    if (version !== formatVersion) throw new UserError(otherFormatText(bucketName, version));
    await checkObjects(check, checked.onObject);
    await checkUploads(check);
    checkReferences(check);
    await countGarbage(check, ended);
    const isForeign = (await foreignMarks(storeFolder, bucketName)).length > 0;
    if (isForeign && report.garbage.files > 0) {
      report.damages.push({ problem: lostDatabase(path, report.garbage.files) });
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    report.damages.push({ problem: `The database cannot be read: ${(error as Error).message}.` });
  } finally {
    database?.close();
  }
  return report;
}

function lostDatabase(path: string, files: number): string {
  return (
    `The database that names ${files} of the bucket's files is lost, or was replaced by another or ` +
    `by an older copy. The files are kept. Restore the newer ${path} from a backup, or give the ` +
    `files up with "ledge store gc --lost".`
  );
}

/** The version is 0 for a database that does not say it. */
function readFormat(check: Check): number {
  const hasFormat = rowsOf(check, "SELECT 1 FROM sqlite_master WHERE name = 'format'").length > 0;
  const [format] = hasFormat ? rowsOf(check, "SELECT * FROM format") : [];
  return Number(format?.["version"] ?? 0);
}

interface CheckedRow {
  readonly key: string;
  readonly fields: string;
  readonly metadata: string | null;
  readonly body: number | null;
  readonly bytes: Uint8Array | null;
  readonly tail: Uint8Array | null;
  readonly segments: string | null;
}

async function checkObjects(check: Check, onObject: (bytes: number) => void): Promise<void> {
  const { report } = check;
  let last = "";
  try {
    for (const read of rowsInOrder(check, objectQuery, "key")) {
      const row = objectRow(read);
      const problem = await confirmedProblem(check, row);
      const bytes = sizeOf(row);
      last = row.key;
      report.objects++;
      report.bytes += bytes;
      onObject(bytes);
      if (problem !== null) report.damages.push({ key: row.key, problem });
    }
  } catch (error) {
    const problem = `The objects after "${last}" cannot be read: ${(error as Error).message}.`;
    report.damages.push({ problem });
  }
}

/** The problem of an object whose row is still the same. */
async function confirmedProblem(check: Check, first: CheckedRow): Promise<string | null> {
  let row = first;
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const problem = await problemOf(() => verifyObject(check, row));
    if (problem === null) return null;
    const [again] = rowsOf(check, `${objectQuery} WHERE key = ?`, row.key).map(objectRow);
    if (again === undefined) return null;
    if (isSameRow(row, again)) return problem;
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

async function checkUploads(check: Check): Promise<void> {
  const query = "SELECT upload_id AS uploadId, key FROM uploads WHERE state = 'in progress'";
  for (const row of rowsInOrder(check, query, "uploadId")) {
    const { uploadId, key } = row as { uploadId: string; key: string };
    for (const part of rowsInOrder(check, partQuery, "partNumber", uploadId)) {
      const segment = { size: Number(part["size"]), place: part["place"], md5: part["etag"] };
      const problem = await problemOf(() => verifySegment(check, segment as Segment));
      if (problem === null) continue;
      // The part may have been uploaded again, or the upload completed.
      const partNumber = part["partNumber"] as number;
      const [again] = rowsOf(check, `${partQuery} AND part_number = ?`, uploadId, partNumber);
      if (again?.["place"] !== segment.place) continue;
      const text = `part ${partNumber} of its upload is damaged: ${problem}`;
      check.report.damages.push({ key, problem: text });
    }
  }
}

const references =
  "SELECT value ->> 1 AS place FROM objects, json_each(segments) " +
  "WHERE segments IS NOT NULL AND json_valid(segments) UNION ALL SELECT place FROM parts";

/** Compares the table of the files with the rows that name files. */
function checkReferences(check: Check): void {
  const { damages, remarks } = check.report;
  const missing = rowsOf(
    check,
    `SELECT place FROM (${references}) WHERE typeof(place) = 'text' ` +
      "AND place NOT IN (SELECT name FROM blobs)",
  );
  for (const { place } of missing) {
    damages.push({
      problem: `An object names the file "${String(place)}", which is not in the table of the files.`,
    });
  }
  const named = `SELECT place FROM (${references}) WHERE place IS NOT NULL`;
  const unnamed = {
    "entries of the table of the files": `SELECT name FROM blobs WHERE name NOT IN (${named})`,
    "contents in the database":
      "SELECT id FROM bodies WHERE id NOT IN (" +
      `SELECT body FROM objects WHERE body IS NOT NULL UNION ALL ${named})`,
  };
  for (const [things, query] of Object.entries(unnamed)) {
    const { length } = rowsOf(check, query);
    if (length > 0) remarks.push(`No object names ${length} ${things}.`);
  }
}

/** @param ended files of runs that have ended */
async function countGarbage(check: Check, ended: readonly string[]): Promise<void> {
  const { garbage } = check.report;
  const named = check.database.prepare("SELECT 1 FROM blobs WHERE name = ?");
  for (const name of ended.filter((each) => named.get(each) === undefined)) {
    const found = await stat(join(check.blobs, name)).catch(() => null);
    if (found === null) continue;
    garbage.files++;
    garbage.bytes += found.size;
  }
}

/** What is wrong, as the end of a sentence about the object. */
class Problem extends Error {}

const bodyMissing = "its content is missing in the database";

async function problemOf(verify: () => Promise<void>): Promise<string | null> {
  try {
    await verify();
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

async function verifyObject(check: Check, row: CheckedRow): Promise<void> {
  const { key, fields, metadata, body, bytes, tail, segments } = row;
  const { size, etag, checksums } = decoded<ObjectRecord>(
    () => decodeObject(key, joinEncoded(fields, metadata)),
    "its metadata cannot be read",
  );
  if (body !== null) {
    if (bytes === null) throw new Problem(bodyMissing);
    const content = tail === null ? bytes : Buffer.concat([bytes, tail]);
    if (content.length !== size) {
      throw new Problem(`its content is ${content.length} bytes, metadata says ${size}`);
    }
    return verifyHash(null, checksums.md5, hash("md5", content));
  }
  if (segments === null) throw new Problem(bodyMissing);
  const parts = decoded(() => decodeSegments(segments), "the places of its content cannot be read");
  for (const segment of parts) await verifySegment(check, segment);
  const sum = parts.reduce((total, segment) => total + segment.size, 0);
  if (sum !== size) throw new Problem(`its parts are ${sum} bytes, metadata says ${size}`);
  const actual = multipartEtag(parts.map(({ md5 }) => ({ etag: md5 })));
  if (checksums.md5 === undefined && actual !== etag) {
    throw new Problem(`its parts have the etag ${actual}, metadata says ${etag}`);
  }
}

function decoded<Value>(decode: () => Value, problem: string): Value {
  try {
    return decode();
  } catch {
    throw new Problem(problem);
  }
}

async function verifySegment(check: Check, { size, place, md5 }: Segment): Promise<void> {
  if (typeof place === "string") {
    return verifyHash(place, md5, await fileHash(join(check.blobs, place), place, size));
  }
  const [row] = rowsOf(check, "SELECT bytes FROM bodies WHERE id = ?", place);
  if (row === undefined) throw new Problem(bodyMissing);
  verifyHash(place, md5, hash("md5", row["bytes"] as Uint8Array));
}

async function fileHash(path: string, blob: string, size: number): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (found?.size !== size) {
    const actualBytes = found?.size ?? null;
    throw new Problem(describeBlobDamage({ blob, expectedBytes: size, actualBytes }));
  }
  const running = createHash("md5");
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: readBytes })) {
      running.update(chunk as Buffer);
    }
  } catch (error) {
    throw new Problem(`file "${blob}" cannot be read: ${(error as Error).message}`);
  }
  return running.digest("hex");
}

function verifyHash(place: Segment["place"] | null, expected: string | undefined, actual: string) {
  if (expected === undefined || expected === actual) return;
  if (typeof place !== "string") {
    throw new Problem(`its content has the MD5 ${actual}, metadata says ${expected}`);
  }
  const hashes = { expected, actual };
  const damage = { blob: place, expectedBytes: 0, actualBytes: 0, hashes };
  throw new Problem(describeBlobDamage(damage));
}

// Integers are read as text: a damaged one may be larger than a number of JavaScript.
const objectQuery =
  "SELECT key, fields, metadata, CAST(body AS TEXT) AS body, bytes, tail, segments " +
  "FROM objects LEFT JOIN bodies ON bodies.id = body";
const partQuery =
  "SELECT part_number AS partNumber, CAST(size AS TEXT) AS size, etag, place FROM parts " +
  "WHERE upload_id = ?";

type Row = Record<string, SQLOutputValue>;

function objectRow(row: Row): CheckedRow {
  const body = row["body"] === null ? null : Number(row["body"]);
  return { ...row, body } as unknown as CheckedRow;
}

function rowsOf({ database }: Check, query: string, ...values: (string | number)[]): Row[] {
  return database.prepare(query).all(...values);
}

/**
 * The rows of a query in the order of a column, in short reads.
 *
 * A read must end beyond the row after which it begins. SQLite returns a damaged key where the key
 * was stored, so that the read that begins after the damaged key can return the same rows again.
 *
 * @throws Error if a read ends where it begins, or before
 */
function* rowsInOrder(
  check: Check,
  query: string,
  column: "key" | "uploadId" | "partNumber",
  ...values: (string | number)[]
): Generator<Row> {
  const end = `ORDER BY ${column} LIMIT ${rowsMax}`;
  let page = rowsOf(check, `SELECT * FROM (${query}) ${end}`, ...values);
  while (page.length > 0) {
    yield* page;
    const last = page.at(-1)?.[column] as string | number;
    page = rowsOf(check, `SELECT * FROM (${query}) WHERE ${column} > ? ${end}`, ...values, last);
    const next = (page.at(-1)?.[column] ?? null) as string | number | null;
    const isInPlace =
      typeof next === "string" ? compareKeys(next, String(last)) > 0 : Number(next) > Number(last);
    if (next !== null && !isInPlace) throw new Error(`the row of "${next}" is not in its place`);
  }
}
