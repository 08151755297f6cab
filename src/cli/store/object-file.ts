/** Objects and files: the content type of a file, files to put, and files to write. */
import { createHash, randomBytes } from "node:crypto";
import { createWriteStream, writeFileSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { lookup } from "mrmime";
import { UserError } from "../../base/user-error.ts";
import type { HttpMetadata } from "../../store/core/http-metadata.ts";
import type { FetchedObject } from "../../store/node/endpoint-bucket.ts";

/** The metadata of a file with this name. Text files count as UTF-8. */
export function guessMetadata(name: string): HttpMetadata {
  const type = lookup(name);
  if (type === undefined) return {};
  return { contentType: type.startsWith("text/") ? `${type}; charset=utf-8` : type };
}

/**
 * Runs `work` with the path of a file. Standard input, `-`, goes to a temporary file first: a
 * transfer may have to start again.
 */
export async function withInputFile<Result>(
  file: string,
  work: (path: string) => Promise<Result>,
): Promise<Result> {
  if (file !== "-") return work(file);
  const folder = await mkdtemp(join(tmpdir(), "ledge-put-"));
  try {
    const path = join(folder, "content");
    await pipeline(process.stdin, createWriteStream(path));
    return await work(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes an object to a file, which appears under its name when it is complete. */
export async function saveObject(path: string, fetched: FetchedObject): Promise<void> {
  const partial = join(dirname(path), `.ledge-partial-${randomBytes(8).toString("hex")}`);
  try {
    await writeContent(partial, fetched);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new UserError(`Cannot write ${path}: ${(error as Error).message}`);
  }
}

/** @throws UserError when the content does not match the object's md5 */
export async function writeContent(
  path: string,
  { object, content }: FetchedObject,
): Promise<void> {
  const hash = createHash("md5");
  if (content instanceof Uint8Array) {
    hash.update(content);
    writeFileSync(path, content);
  } else {
    const hashing = new Transform({
      transform(chunk: Buffer, _, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    await pipeline(content, hashing, createWriteStream(path));
  }
  const { md5 } = object.checksums;
  if (md5 !== undefined && md5 !== hash.digest("hex")) {
    throw new UserError(
      `"${object.key}" is damaged: its content does not match its md5. Put or delete the object.`,
    );
  }
}

/**
 * Writes an object to standard output. Output cannot be taken back, so a transfer that breaks off is
 * not tried a second time.
 */
export async function printObject({ content }: FetchedObject): Promise<void> {
  const source = content instanceof Uint8Array ? Readable.from([content]) : content;
  try {
    await pipeline(source, process.stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return;
    throw new UserError(
      `The transfer of the object broke off: ${(error as Error).message}. Run the command again.`,
    );
  }
}
