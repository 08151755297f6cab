/**
 * Loads wrangler, Miniflare and SQLite, and changes Node's own behaviour for that. Each change has an effect
 * that users see; without that, use what Node documents.
 *
 * - **`process.emitWarning`** (`loadSqlite()`, `loadWithBytecode()`): Node warns of SQLite (Node 22) and of
 *   `import()` in a script. If Node warns in another way: the user sees a warning at the start.
 * - **The module cache of `require()`** (`loadWithBytecode()`): loads wrangler and Miniflare with the bytecode
 *   of an earlier run, in 1.0 s of processor time instead of 1.8 s. If Node changes its wrapper of
 *   CommonJS files: wrangler does not load.
 *
 * `loading.test.ts` notices each of these changes.
 */
import { isAscii } from "node:buffer";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { basename, dirname, join, relative, sep } from "node:path";
import type * as Sqlite from "node:sqlite";
import { constants, Script } from "node:vm";
import { crc32 } from "node:zlib";
import { UserError } from "./user-error.ts";

export function loadSqlite(): typeof Sqlite {
  const sqlite = withoutWarnings(
    () => process.getBuiltinModule("node:sqlite") as typeof Sqlite | undefined,
  );
  if (sqlite !== undefined) return sqlite;
  throw new UserError(
    `Ledge needs Node 22.13 or later, the first version with SQLite. This is Node ${process.version}.`,
  );
}

function withoutWarnings<Result>(act: () => Result): Result {
  const own = Object.getOwnPropertyDescriptor(process, "emitWarning") as PropertyDescriptor;
  process.emitWarning = () => {};
  try {
    return act();
  } finally {
    Object.defineProperty(process, "emitWarning", own);
  }
}

const require = createRequire(import.meta.url);

/** Checksums of the source and of the bytecode, 4 bytes each. */
const headerBytes = 8;
/** Node gives these names to a CommonJS file. */
const head = "(function (exports, require, module, __filename, __dirname) {";
const tail = "\n})";
/** `import()` in the file resolves as in any file. */
const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;

/** The files that were compiled, because there was no bytecode. */
let compiled: {
  readonly script: Script;
  readonly path: string;
  readonly sourceChecksum: number;
}[] = [];

/**
 * Loads a large CommonJS file as `require()` does, with the bytecode of an earlier run: wrangler is a
 * file of twenty megabytes, Miniflare one of five. Node fills its own cache (`enableCompileCache()`)
 * before the file runs, when V8 has compiled only the outermost functions. This cache is filled after
 * the start, and has every function that the start has used.
 *
 *     node_modules/.cache/ledge/wrangler-cli-v24.21.0-x64.bin     header, bytecode
 *
 * V8 rejects bytecode of another version or of other flags; the checksums in the header detect
 * another source and a damaged file. In all these cases, and where the folder cannot be written, the
 * file is compiled as usual. The bytecode is in the `node_modules` that the source comes from, so that
 * it can be changed only by users who can change the source.
 */
export function loadWithBytecode(path: string): void {
  if (require.cache[path] !== undefined) return;
  const bytecodePath = bytecodePathOf(path);
  if (bytecodePath === null) return void require(path);
  const module = new Module(path);
  module.filename = path;
  require.cache[path] = module;
  try {
    const run = compile(path, bytecodePath);
    run.call(module.exports, module.exports, createRequire(path), module, path, dirname(path));
    module.loaded = true;
  } catch (error) {
    delete require.cache[path];
    throw error;
  }
}

/** Blocks the process for some tenths of a second, once for a version of a file that had no bytecode. */
export function saveBytecode(): void {
  for (const { script, path, sourceChecksum } of compiled) {
    const bytecode = script.createCachedData();
    const header = Buffer.alloc(headerBytes);
    header.writeUInt32LE(sourceChecksum, 0);
    header.writeUInt32LE(crc32(bytecode), 4);
    writeCache(path, Buffer.concat([header, bytecode]));
  }
  compiled = [];
}

function compile(path: string, bytecodePath: string): (...values: unknown[]) => void {
  const source = readFileSync(path);
  // ASCII is decoded several times as fast by this name.
  const text = source.toString(isAscii(source) ? "latin1" : "utf8");
  const sourceChecksum = crc32(source);
  const cachedData = readBytecode(bytecodePath, sourceChecksum);
  takeImportWarning();
  const script = new Script(head + text + tail, {
    filename: path,
    // Positions in the first line are those of the file.
    columnOffset: -head.length,
    importModuleDynamically,
    ...(cachedData !== null && { cachedData }),
  });
  if (cachedData === null || script.cachedDataRejected === true) {
    compiled.push({ script, path: bytecodePath, sourceChecksum });
  }
  return script.runInThisContext() as (...values: unknown[]) => void;
}

function bytecodePathOf(path: string): string | null {
  const folder = cacheFolderOf(path);
  if (folder === null) return null;
  const [name = ""] = relative(join(folder, "../.."), path).split(sep);
  const file = `${name}-${basename(path, ".js")}-${process.version}-${process.arch}.bin`;
  return join(folder, file);
}

/** The folder for files of Ledge in the `node_modules` of a path; `null` outside of `node_modules`. */
export function cacheFolderOf(path: string): string | null {
  const folders = path.split(sep);
  const index = folders.lastIndexOf("node_modules");
  return index === -1 ? null : join(folders.slice(0, index + 1).join(sep), ".cache", "ledge");
}

function readBytecode(path: string, sourceChecksum: number): Buffer | null {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch {
    return null;
  }
  if (file.length < headerBytes || file.readUInt32LE(0) !== sourceChecksum) return null;
  const bytecode = file.subarray(headerBytes);
  return crc32(bytecode) === file.readUInt32LE(4) ? bytecode : null;
}

/**
 * At the first `import()` of a script, Node warns, once, that the option is experimental. So the first
 * is here, and its warning does not reach the user.
 */
function takeImportWarning(): void {
  withoutWarnings(() =>
    new Script('import("node:vm")', { importModuleDynamically }).runInThisContext(),
  );
}

/** Other processes see the whole file or none. A cache that cannot be written is no error. */
function writeCache(path: string, content: Buffer): void {
  const partial = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    try {
      writeFileSync(partial, content);
      renameSync(partial, path);
    } finally {
      rmSync(partial, { force: true });
    }
  } catch {
    // The next process compiles the file again.
  }
}
