/**
 * Loads large CommonJS files quickly, with the bytecode of an earlier run.
 *
 * Most of the start of a dev server is the compilation of two files: wrangler is a file of twenty
 * megabytes, Miniflare one of five. Node has a cache of bytecode (`module.enableCompileCache()`), but
 * Node fills it before the file runs, when V8 has compiled only the outermost functions. This cache
 * is filled after the start, and has every function that the start has used.
 *
 *     node_modules/.cache/ledge/wrangler-cli-v24.21.0-x64.bin     header, bytecode
 *
 * A file of bytecode belongs to one content of the source, one version of Node and one processor.
 * V8 rejects bytecode of another version or of other flags; the checksums in the header detect
 * another source and a damaged file. In all these cases, and where the folder cannot be written, the
 * file is compiled as usual. The bytecode is in the `node_modules` that the source comes from, so that
 * it can be changed only by users who can change the source.
 */
import { isAscii } from "node:buffer";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire, Module } from "node:module";
import { basename, dirname, join, sep } from "node:path";
import { constants, Script } from "node:vm";
import { crc32 } from "node:zlib";

const require = createRequire(import.meta.url);

/** Checksums of the source and of the bytecode, 4 bytes each. */
const headerBytes = 8;
/** Node gives these names to a CommonJS file. */
const head = "(function (exports, require, module, __filename, __dirname) {";
const tail = "\n})";
/** `import()` in the file resolves as in any file. */
const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;

interface NewBytecode {
  readonly script: Script;
  readonly path: string;
  readonly sourceChecksum: number;
}

export class CodeCache {
  /** The files that were compiled, because there was no bytecode. */
  #compiled: NewBytecode[] = [];

  /** Loads the CommonJS file at `path` as `require()` does. Later calls of `require()` find the module. */
  load(path: string): void {
    if (require.cache[path] !== undefined) return;
    const bytecodePath = bytecodePathOf(path);
    if (bytecodePath === null) return void require(path);
    const module = new Module(path);
    module.filename = path;
    require.cache[path] = module;
    try {
      const run = this.#compile(path, bytecodePath);
      run.call(module.exports, module.exports, createRequire(path), module, path, dirname(path));
      module.loaded = true;
    } catch (error) {
      delete require.cache[path];
      throw error;
    }
  }

  /**
   * Writes the bytecode of the files that had none. The bytecode contains the functions that were
   * called until now. The call blocks the process for some tenths of a second, once for a version.
   */
  save(): void {
    for (const { script, path, sourceChecksum } of this.#compiled) {
      const bytecode = script.createCachedData();
      const header = Buffer.alloc(headerBytes);
      header.writeUInt32LE(sourceChecksum, 0);
      header.writeUInt32LE(crc32(bytecode), 4);
      writeWhole(path, Buffer.concat([header, bytecode]));
    }
    this.#compiled = [];
  }

  #compile(path: string, bytecodePath: string): (...values: unknown[]) => void {
    const source = readWrapped(path);
    const sourceChecksum = crc32(source);
    const cachedData = readBytecode(bytecodePath, sourceChecksum);
    takeImportWarning();
    const script = new Script(decode(source), {
      filename: path,
      // Positions in the first line are those of the file.
      columnOffset: -head.length,
      importModuleDynamically,
      ...(cachedData !== null && { cachedData }),
    });
    if (cachedData === null || script.cachedDataRejected === true) {
      this.#compiled.push({ script, path: bytecodePath, sourceChecksum });
    }
    return script.runInThisContext() as (...values: unknown[]) => void;
  }
}

/** Of Miniflare and wrangler. A process that has used them saves their bytecode for the next. */
export const codeCache = new CodeCache();

/** `null` for a file outside of `node_modules`. */
function bytecodePathOf(path: string): string | null {
  const folders = path.split(sep);
  const index = folders.lastIndexOf("node_modules");
  if (index === -1) return null;
  const name = `${folders[index + 1] as string}-${basename(path, ".js")}-${process.version}-${process.arch}.bin`;
  return join(folders.slice(0, index + 1).join(sep), ".cache", "ledge", name);
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

/** Reads a file into the function that runs it. To join strings of this size would copy them. */
function readWrapped(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const content = Buffer.allocUnsafe(head.length + size + tail.length);
    content.write(head, 0);
    for (let read = 0, count = 1; read < size && count > 0; read += count) {
      count = readSync(file, content, head.length + read, size - read, read);
    }
    content.write(tail, head.length + size);
    return content;
  } finally {
    closeSync(file);
  }
}

/** ASCII is decoded several times as fast by this name. */
function decode(source: Buffer): string {
  return source.toString(isAscii(source) ? "latin1" : "utf8");
}

/**
 * At the first `import()` of a script, Node warns, once, that the option is experimental. So the first
 * is here, and its warning does not reach the user.
 */
function takeImportWarning(): void {
  const own = Object.getOwnPropertyDescriptor(process, "emitWarning") as PropertyDescriptor;
  process.emitWarning = () => {};
  try {
    new Script('import("node:vm")', { importModuleDynamically }).runInThisContext();
  } finally {
    Object.defineProperty(process, "emitWarning", own);
  }
}

/** Other processes see the whole file or none. A cache that cannot be written is no error. */
function writeWhole(path: string, content: Buffer): void {
  const partial = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(partial, content);
    renameSync(partial, path);
  } catch {
    rmSync(partial, { force: true });
  }
}
