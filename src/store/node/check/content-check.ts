/** Compares an object or a part with its content: sizes, checksums and hashes. */
import { createHash, hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describeBlobDamage, decodeSegments, type Segment } from "../../core/content.ts";
import { multipartEtag } from "../../core/multipart.ts";
import { decodeObject, joinEncoded } from "../../core/object.ts";
import type { ObjectRecord } from "../../core/operations.ts";
import { bodyDamage, bodyMissing, itemText, rowDamage, RowSeals } from "../../core/row-seal.ts";
import type {
  BucketRows,
  CheckedPart,
  CheckedRow,
  CheckedSetting,
  CheckedUpload,
} from "./bucket-rows.ts";

/** What is wrong, as the end of a sentence about the object. */
class Problem extends Error {}

const readBytes = 256 * 1024;

export class ContentCheck {
  readonly #seals = new RowSeals(new TextEncoder());
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
      const { key, fields, metadata } = row;
      const item = itemText(key, fields);
      this.#verifySeal(row.checksum, (checksum) =>
        this.#seals.isItemIntact(item, metadata, checksum),
      );
      this.#verifySeal(row.itemChecksum, (checksum) =>
        this.#seals.isItemIntact(item, null, checksum),
      );
      const object = decodeRecord(row);
      if (row.body === null) await this.#verifySegments(row, object);
      else this.#verifyBody(row, object);
    });
  }

  uploadProblem(upload: CheckedUpload): string | null {
    const { uploadId, key, since, storageClass, http, custom, checksum } = upload;
    const sealed = this.#seals.sealColumns(
      [uploadId, key, since, storageClass, http, custom],
      [upload.created, upload.checksumAlgorithm, upload.checksumType],
      [upload.ssecKeyMd5],
    );
    return checksum === null || checksum === sealed ? null : rowDamage;
  }

  settingProblem({ name, value, checksum }: CheckedSetting): string | null {
    return this.#seals.sealColumns([name, value]) === checksum ? null : rowDamage;
  }

  partProblem(uploadId: string, part: CheckedPart): Promise<string | null> {
    return problemOf(async () => {
      const { partNumber, size, etag, place, contentChecksum, checksum } = part;
      const columns = [uploadId, partNumber, size, etag, place, contentChecksum];
      const added = [part.uploaded, part.checksums] as const;
      this.#verifySeal(checksum, (stored) => this.#seals.sealColumns(columns, added) === stored);
      const segment = { size, place, md5: etag };
      const actual = await this.#segmentHash(
        contentChecksum === null ? segment : { ...segment, checksum: contentChecksum },
      );
      verifyHash(place, etag, actual);
    });
  }

  #verifyBody(row: CheckedRow, { size, checksums }: ObjectRecord): void {
    const { body, bytes, tail, contentChecksum } = row;
    if (bytes === null) throw new Problem(bodyMissing);
    const content = tail === null ? bytes : Buffer.concat([bytes, tail]);
    this.#verifySeal(
      contentChecksum,
      (checksum) => this.#seals.isContentIntact(content, checksum, body),
      bodyDamage,
    );
    if (content.length !== size) {
      throw new Problem(`its content is ${content.length} bytes, metadata says ${size}`);
    }
    verifyHash(null, checksums.md5, hash("md5", content));
  }

  async #verifySegments(row: CheckedRow, { size, etag, checksums }: ObjectRecord): Promise<void> {
    const { segments, contentChecksum } = row;
    if (segments === null) throw new Problem(rowDamage);
    this.#verifySeal(contentChecksum, (checksum) =>
      this.#seals.isContentIntact(segments, checksum),
    );
    const parts = decodeSegments(segments);
    const hashes: { etag: string }[] = [];
    for (const segment of parts) {
      const actual = await this.#segmentHash(segment);
      // An earlier version stored no hash with a segment.
      verifyHash(segment.place, segment.md5 ?? checksums.md5, actual);
      hashes.push({ etag: actual });
    }
    const bytes = parts.reduce((sum, segment) => sum + segment.size, 0);
    if (bytes !== size) throw new Problem(`its parts are ${bytes} bytes, metadata says ${size}`);
    if (checksums.md5 === undefined && multipartEtag(hashes) !== etag) {
      throw new Problem(`its parts have the etag ${multipartEtag(hashes)}, metadata says ${etag}`);
    }
  }

  /** The MD5 of a segment that has the right size. */
  async #segmentHash({ size, place, checksum }: Segment): Promise<string> {
    if (typeof place === "string") return this.#fileHash(place, size);
    const bytes = this.#rows.body(place);
    if (bytes === null) throw new Problem(bodyMissing);
    if (checksum !== undefined && !this.#seals.isContentIntact(bytes, checksum)) {
      throw new Problem(bodyDamage);
    }
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

  #verifySeal(
    checksum: number | null,
    isIntact: (checksum: number) => boolean,
    problem = rowDamage,
  ): void {
    const intact = checksum === null ? this.#rows.hasUnsealedRows : isIntact(checksum);
    if (!intact) throw new Problem(problem);
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
