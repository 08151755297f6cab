/** Compares an object or a part with its content: sizes and hashes. */
import { createHash, hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describeBlobDamage, decodeSegments, type Segment } from "../../core/content.ts";
import { multipartEtag } from "../../core/multipart.ts";
import { decodeObject, joinEncoded } from "../../core/object.ts";
import type { ObjectRecord } from "../../core/operations.ts";
import type { BucketRows, CheckedPart, CheckedRow } from "./bucket-rows.ts";

/** What is wrong, as the end of a sentence about the object. */
class Problem extends Error {}

const readBytes = 256 * 1024;
const bodyMissing = "its content is missing in the database";

export class ContentCheck {
  readonly #rows: BucketRows;
  readonly #blobs: string;

  /** @param blobs the folder of the bucket's files */
  constructor(rows: BucketRows, blobs: string) {
    this.#rows = rows;
    this.#blobs = blobs;
  }

  /** What is wrong with an object; `null` if nothing is. */
  objectProblem(row: CheckedRow): Promise<string | null> {
    return problemOf(async () => {
      const object = decodeRecord(row);
      if (row.body === null) await this.#verifySegments(row, object);
      else this.#verifyBody(row, object);
    });
  }

  partProblem({ size, etag, place }: CheckedPart): Promise<string | null> {
    return problemOf(async () =>
      verifyHash(place, etag, await this.#segmentHash({ size, place, md5: etag })),
    );
  }

  #verifyBody({ bytes, tail }: CheckedRow, { size, checksums }: ObjectRecord): void {
    if (bytes === null) throw new Problem(bodyMissing);
    const content = tail === null ? bytes : Buffer.concat([bytes, tail]);
    if (content.length !== size) {
      throw new Problem(`its content is ${content.length} bytes, metadata says ${size}`);
    }
    verifyHash(null, checksums.md5, hash("md5", content));
  }

  async #verifySegments(
    { segments }: CheckedRow,
    { size, etag, checksums }: ObjectRecord,
  ): Promise<void> {
    if (segments === null) throw new Problem(bodyMissing);
    const parts = readSegments(segments);
    for (const segment of parts) {
      verifyHash(segment.place, segment.md5, await this.#segmentHash(segment));
    }
    const bytes = parts.reduce((sum, segment) => sum + segment.size, 0);
    if (bytes !== size) throw new Problem(`its parts are ${bytes} bytes, metadata says ${size}`);
    const actual = multipartEtag(parts.map(({ md5 }) => ({ etag: md5 })));
    if (checksums.md5 === undefined && actual !== etag) {
      throw new Problem(`its parts have the etag ${actual}, metadata says ${etag}`);
    }
  }

  /** The MD5 of a segment that has the right size. */
  async #segmentHash({ size, place }: Segment): Promise<string> {
    if (typeof place === "string") return this.#fileHash(place, size);
    const bytes = this.#rows.body(place);
    if (bytes === null) throw new Problem(bodyMissing);
    return hash("md5", bytes);
  }

  async #fileHash(name: string, size: number): Promise<string> {
    const path = join(this.#blobs, name);
    const found = await stat(path).catch(() => null);
    if (found?.size !== size) {
      const damage = { blob: name, expectedBytes: size, actualBytes: found?.size ?? null };
      throw new Problem(describeBlobDamage(damage));
    }
    const running = createHash("md5");
    try {
      for await (const chunk of createReadStream(path, { highWaterMark: readBytes })) {
        running.update(chunk as Buffer);
      }
    } catch (error) {
      throw new Problem(`file "${name}" cannot be read: ${(error as Error).message}`);
    }
    return running.digest("hex");
  }
}

async function problemOf(verify: () => Promise<void>): Promise<string | null> {
  try {
    await verify();
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

function readSegments(text: string): Segment[] {
  try {
    return decodeSegments(text);
  } catch {
    throw new Problem("the places of its content cannot be read");
  }
}

function decodeRecord({ key, fields, metadata }: CheckedRow): ObjectRecord {
  try {
    return decodeObject(key, joinEncoded(fields, metadata));
  } catch {
    throw new Problem("its metadata cannot be read");
  }
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
