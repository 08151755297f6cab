/**
 * A state as one file, which another machine and a later version import: a tar file, compressed with zstd where
 * Node has it, and otherwise with gzip. Its members are
 *
 *     ledge-state.json    what the file is: `Description`
 *     v3/…                the databases, each whole in one file, and the values
 *     checksums.sha256    a line for each file, as `sha256sum` writes it
 *
 * so a person can unpack the file without Ledge, and then has a state folder. The checksums are known last, and
 * are last: everything streams. An import unpacks into a folder of its own, and compares the checksums before
 * the saved state appears.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type ReadStream,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { PassThrough, pipeline, type Duplex } from "node:stream";
import { pipeline as pipelineEnd } from "node:stream/promises";
import * as zlib from "node:zlib";
import { loadSqlite } from "../base/loading.ts";
import { packageVersion } from "../base/package-version.ts";
import { UserError } from "../base/user-error.ts";
import { explain, savedFolder } from "../state/folder.ts";
import { OwnFolder } from "../state/runs.ts";
import { passingName, type SavedRecord } from "./saved-record.ts";
import { SavedStates } from "./saved-states.ts";
import type { SavedState } from "./state-control.ts";
import { readTar, TarError, writeTar, type TarMember } from "./tar.ts";

export interface ArchiveOptions {
  /** @param bytes so far, of `total` */
  readonly onProgress?: (bytes: number, total: number) => void;
  readonly signal?: AbortSignal;
}

interface Description {
  readonly format: number;
  /** The version of Ledge that has written the file. */
  readonly ledge: string;
  readonly name: string;
  readonly savedAt: string;
}

const format = 1;
/** From Node 22.15 on. */
const hasZstd = "createZstdCompress" in zlib;
const descriptionPath = "ledge-state.json";
const checksumsPath = "checksums.sha256";
/** Larger files are streamed. */
const wholeFileBytesMax = 1024 * 1024;

/**
 * Writes a state to a file, which appears when it is complete.
 *
 * @param name of a saved state; `null` for what is there now
 * @returns the size of the file
 */
export async function exportState(
  stateFolder: string,
  name: string | null,
  file: string,
  options: ArchiveOptions = {},
): Promise<number> {
  const states = new SavedStates(stateFolder);
  if (name !== null) return exportRecord(states.find(name), stateFolder, file, options);
  const now = await states.captureNow();
  try {
    return await exportRecord(now.record, stateFolder, file, options);
  } finally {
    now.end();
  }
}

async function exportRecord(
  record: SavedRecord,
  stateFolder: string,
  file: string,
  { onProgress, signal }: ArchiveOptions,
): Promise<number> {
  const partial = `${file}.${process.pid}.partial`;
  const folder = new OwnFolder(savedFolder(stateFolder), ".export-");
  try {
    const members = archiveMembers(record, nameInFile(record, file), join(folder.path, "database"));
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      let bytes = 0;
      for await (const chunk of writeTar(members)) {
        yield chunk;
        onProgress?.((bytes += chunk.length), record.bytes);
      }
    };
    const target = createWriteStream(partial, { mode: 0o600 });
    await pipelineEnd(chunks, compressor(), target, { signal });
    renameSync(partial, file);
    return statSync(file).size;
  } catch (error) {
    throw explain(error, dirname(file));
  } finally {
    rmSync(partial, { force: true });
    folder.remove();
  }
}

function compressor(): Duplex {
  return hasZstd ? zlib.createZstdCompress() : zlib.createGzip();
}

async function* archiveMembers(
  record: SavedRecord,
  name: string,
  temporary: string,
): AsyncGenerator<TarMember> {
  const { savedAt } = record;
  const description: Description = { format, ledge: packageVersion(), name, savedAt };
  yield textMember(descriptionPath, `${JSON.stringify(description)}\n`);
  const lines: string[] = [];
  for (const { path } of record.databases) {
    const log = record.logPath(path);
    const copy = record.copyPath(path);
    if (log !== null) writeWholeDatabase(copy, log, temporary);
    yield fileMember(`v3/${path}`, log === null ? copy : temporary, lines);
  }
  for (const path of record.values.keys()) {
    yield fileMember(`v3/${path}`, record.valuePath(path), lines);
  }
  yield textMember(checksumsPath, lines.join(""));
}

/** SQLite moves the log into the database when the last connection is closed. */
function writeWholeDatabase(database: string, log: string, target: string): void {
  copyFileSync(database, target);
  copyFileSync(log, `${target}-wal`);
  const opened = new (loadSqlite().DatabaseSync)(target);
  opened.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  opened.close();
}

function textMember(path: string, text: string): TarMember {
  const bytes = Buffer.from(text);
  return { path, size: bytes.length, content: [bytes] };
}

/** @param lines gets the line of this file */
function fileMember(path: string, file: string, lines: string[]): TarMember {
  const { size } = statSync(file);
  const content = async function* (): AsyncGenerator<Uint8Array> {
    const hash = createHash("sha256");
    const chunks = size <= wholeFileBytesMax ? [readFileSync(file)] : createReadStream(file);
    for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      yield chunk;
    }
    lines.push(checksumLine(path, hash.digest("hex")));
  };
  return { path, size, content: content() };
}

function checksumLine(path: string, hash: string): string {
  return `${hash}  ${path}\n`;
}

/** What is there now has no name: the import gets that of the file, without its endings. */
function nameInFile({ name }: SavedRecord, file: string): string {
  if (name !== passingName) return name;
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}/.exec(basename(file))?.[0] ?? "imported";
}

/**
 * Makes a saved state of a file of `exportState()`.
 *
 * @param name by default the name that the state had when it was exported
 * @throws UserError when the file is not whole, or a state has the name: nothing is left
 */
export async function importState(
  stateFolder: string,
  file: string,
  name?: string,
  { onProgress, signal }: ArchiveOptions = {},
): Promise<SavedState> {
  const states = new SavedStates(stateFolder);
  const folder = new OwnFolder(savedFolder(stateFolder), ".import-");
  let input: ReadStream | undefined;
  try {
    const total = statSync(file).size;
    const opened = (input = createReadStream(file, { signal }));
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of await decompressed(opened, file)) {
        onProgress?.(opened.bytesRead, total);
        yield chunk;
      }
    };
    const members = readTar(chunks());
    const description = await readDescription(members, file);
    const wanted = name ?? description.name;
    if (states.list().some((state) => state.name === wanted)) {
      throw new UserError(
        `There is a saved state "${wanted}". Import under another name ` +
          `("ledge state import FILE NAME"), or delete that state: "ledge state delete ${wanted}".`,
      );
    }
    await unpack(members, folder.path);
    return await states.save(wanted, { from: folder.path });
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null) throw explain(error, stateFolder);
    throw new UserError(
      `${file} is damaged: ${problem}. Nothing was imported. Copy the file again, or export the state again.`,
    );
  } finally {
    input?.destroy();
    folder.remove();
  }
}

async function readDescription(
  members: AsyncGenerator<TarMember>,
  file: string,
): Promise<Description> {
  const first = await members.next().catch((error: unknown) => {
    if (problemOf(error) === null) throw error;
    return null;
  });
  const member = first?.value as TarMember | undefined;
  if (member?.path !== descriptionPath) {
    throw new UserError(`${file} is no export of Ledge, or its beginning is missing.`);
  }
  const description = JSON.parse(await readText(member)) as Description;
  if (description.format <= format) return description;
  throw new UserError(
    `${file} has format ${description.format}, which Ledge ${description.ledge} writes. This version ` +
      `(${packageVersion()}) reads format ${format}: update Ledge.`,
  );
}

/** @throws TarError when a checksum differs, or the checksums are missing */
async function unpack(members: AsyncGenerator<TarMember>, folder: string): Promise<void> {
  const lines: string[] = [];
  let checksums: string | undefined;
  for await (const member of members) {
    if (member.path === checksumsPath) checksums = await readText(member);
    else lines.push(await unpackFile(member, folder));
  }
  if (checksums === undefined) throw new TarError("the file is cut");
  if (checksums !== lines.join("")) throw new TarError("a checksum differs");
}

async function unpackFile({ path, content }: TarMember, folder: string): Promise<string> {
  const [first, ...others] = path.split("/");
  const isInside = others.every((part) => !["", ".", ".."].includes(part) && !/[\\:\0]/.test(part));
  if (first !== "v3" || !isInside) {
    throw new TarError(`the path ${JSON.stringify(path)} leads out of the state`);
  }
  mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
  const hash = createHash("sha256");
  const target = openSync(join(folder, path), "wx", 0o600);
  try {
    for await (const chunk of content) {
      hash.update(chunk);
      writeFileSync(target, chunk);
    }
  } finally {
    closeSync(target);
  }
  return checksumLine(path, hash.digest("hex"));
}

async function readText({ content }: TarMember): Promise<string> {
  const chunks = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The first bytes say what has compressed the file. */
async function decompressed(input: ReadStream, file: string): Promise<Duplex> {
  await once(input, "readable");
  const start = input.read(4) as Buffer | null;
  if (start !== null) input.unshift(start);
  const stream = decompressor(start?.toString("hex") ?? "", file);
  // An error of the input becomes an error of the output.
  return pipeline(input, stream, () => undefined);
}

function decompressor(start: string, file: string): Duplex {
  if (start.startsWith("1f8b")) return zlib.createGunzip();
  if (start !== "28b52ffd") return new PassThrough();
  if (hasZstd) return zlib.createZstdDecompress();
  throw new UserError(
    `zstd has compressed ${file}, and Node ${process.version} has no zstd. Use Node 22.15 or later, or ` +
      `unpack the file first (zstd -d), and import what comes out.`,
  );
}

/** What is wrong with the file; `null` for an error of another cause. */
function problemOf(error: unknown): string | null {
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "Z_BUF_ERROR") return "the file is cut";
  if (error instanceof SyntaxError) return `${descriptionPath} cannot be read`;
  return error instanceof TarError || /^Z_|^ZSTD_|^EEXIST$/.test(code) ? message : null;
}
