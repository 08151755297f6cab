/**
 * The rows of objects and of their content, written together: content to which an object no longer
 * refers is deleted in the same step.
 *
 * The number of statements is most of the cost of a call, so a new object takes two: one for the
 * row of its body, one for its own row. Only when the second finds that the key exists is the old
 * object looked up. Content is written first, then the row that refers to it, then old content is
 * deleted: a failure at any point leaves at most content to which no row refers. So a new object
 * needs no savepoint, which would cost as much as a statement. A body that overwrites a body whose
 * id is in the cache needs one.
 *
 * Objects that were stored or read recently are in a cache, and reading them takes no statement.
 * The cache is exact: all changes of the objects go through this class, and no other process has
 * the database open.
 */
import { ownBuffer } from "../client/blob-directory.ts";
import {
  type CheckedContent,
  segmentRange,
  sliceSegments,
  type Segment,
  fitBodyToPage,
} from "../core/content.ts";
import type { ByteRange } from "../core/byte-range.ts";
import { encodeFields, encodeMetadata, joinEncoded, type NewObject } from "../core/object.ts";
import { StoreError } from "../core/errors.ts";
import type { ContentSlice, EncodedObject, ObjectRecord } from "../core/operations.ts";
import type { ContentTable } from "./contents.ts";
import type { ContentLocation, ObjectRow, ObjectTable, StoredObject } from "./object-table.ts";
import { GenerationalCache } from "../core/generational-cache.ts";

/** The size of one generation of the cache, which has two. */
const generationBytesMax = 8 * 1024 * 1024;

/** An object, with the columns that were read so far; `null` for a key without an object. */
type CachedObject = (Pick<StoredObject, "text"> & Partial<StoredObject>) | null;

export class ObjectRepository {
  readonly #objects: ObjectTable;
  readonly #contents: ContentTable;
  readonly #cache = new GenerationalCache<CachedObject>(generationBytesMax, weigh);
  readonly #transact: (write: () => void) => void;
  #released: string[] = [];

  constructor(objects: ObjectTable, contents: ContentTable, transact: (write: () => void) => void) {
    this.#objects = objects;
    this.#contents = contents;
    this.#transact = transact;
  }

  /** The files that lost their last reference since the previous call. */
  takeReleased(): string[] {
    const released = this.#released;
    if (released.length > 0) this.#released = [];
    return released;
  }

  /** The transaction was undone: discards what it cached and released. */
  rollBack(): void {
    this.#cache.clear();
    this.#released = [];
  }

  text(key: string): EncodedObject | null {
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached === null ? null : cached.text;
    const text = this.#objects.text(key);
    this.#cache.set(key, text === null ? null : { text });
    return text;
  }

  find(key: string): StoredObject | null {
    const cached = this.#cache.get(key);
    if (cached !== undefined && isWhole(cached)) return cached;
    const found = this.#objects.find(key);
    this.#cache.set(key, found);
    return found;
  }

  /** Stores an object, in place of an object with the same key. */
  put(record: NewObject, checked: CheckedContent): EncodedObject {
    return "bytes" in checked.content
      ? this.#putBody(record, checked.content.bytes)
      : this.putSegments(record, [this.#contents.add(checked)]);
  }

  /** `put`, with content that is stored already. */
  putSegments(record: NewObject, segments: readonly Segment[]): EncodedObject {
    return this.#putRow(objectRow(record, segments), null);
  }

  #putBody(record: NewObject, bytes: Uint8Array): EncodedObject {
    const bodyLength = fitBodyToPage(bytes.length);
    const body = bytes.subarray(0, bodyLength);
    const tail = bodyLength < bytes.length ? bytes.subarray(bodyLength) : null;
    const bodyId = this.#cache.get(record.key)?.location;
    if (typeof bodyId !== "number") {
      const id = this.#contents.addBody(body);
      return this.#putRow(objectRow(record, id, tail, bytes), ownBuffer(bytes));
    }
    const row = objectRow(record, bodyId, tail, bytes);
    this.#transact(() => {
      this.#objects.update(row);
      this.#contents.replaceBody(bodyId, body);
    });
    return this.#addToCache(row, ownBuffer(bytes));
  }

  #putRow(row: ObjectRow, bytes: ArrayBuffer | null): EncodedObject {
    if (!this.#objects.insert(row)) {
      const old = this.#objects.location(row.key);
      if (old === null) throw new Error(`Cannot find the object that "${row.key}" replaces`);
      this.#objects.update(row);
      this.release([old]);
    }
    return this.#addToCache(row, bytes);
  }

  #addToCache(
    { key, fields, metadata, location }: ObjectRow,
    bytes: ArrayBuffer | null,
  ): EncodedObject {
    const text = joinEncoded(fields, metadata);
    this.#cache.set(key, { text, location, bytes });
    return text;
  }

  /**
   * @param md5 of the object, if it was stored by one put
   * @throws StoreError 10001 for content that is damaged in the database
   */
  read(
    key: string,
    { bytes, location }: StoredObject,
    range: ByteRange,
    md5: string | undefined,
  ): ContentSlice[] {
    if (bytes !== null) return [{ bytes: bytes.slice(range.offset, range.offset + range.length) }];
    const segments = location as readonly Segment[];
    const slices = sliceSegments(segments, range).map((slice) => this.#contents.read(key, slice));
    const [first] = slices;
    // An earlier version stored no hash with the segment.
    if (first !== undefined && "blob" in first && first.md5 === undefined && md5 !== undefined) {
      return [{ ...first, md5 }];
    }
    return slices;
  }

  /**
   * One part of an object, counted from 1: each part of an upload is a segment. An object that was
   * stored by one put has one part.
   *
   * @throws StoreError 200001 for a part that does not exist
   */
  part(
    { location }: StoredObject,
    { size, checksums }: ObjectRecord,
    partNumber: number,
  ): { readonly range: ByteRange; readonly partsCount?: number } {
    // The entity tag of an upload is not an MD5.
    const isUpload = checksums.md5 === undefined && typeof location !== "number";
    const range = isUpload ? segmentRange(location, partNumber) : { offset: 0, length: size };
    if (range === null || (!isUpload && partNumber !== 1)) throw new StoreError(200001);
    return isUpload ? { range, partsCount: location.length } : { range };
  }

  remove(keys: readonly string[]): void {
    for (const key of keys) this.#cache.delete(key);
    this.release(this.#objects.remove(keys));
  }

  /** Deletes content to which no object and no part refers. */
  release(locations: readonly ContentLocation[]): void {
    const places = locations.flatMap((location) =>
      typeof location === "number" ? location : location.map((segment) => segment.place),
    );
    this.#released.push(...this.#contents.release(places));
  }
}

function objectRow(
  record: NewObject,
  location: ContentLocation,
  tail: Uint8Array | null = null,
  bytes: Uint8Array | null = null,
): ObjectRow {
  const metadata = encodeMetadata(record.http, record.custom);
  return { key: record.key, fields: encodeFields(record), metadata, location, tail, bytes };
}

function isWhole(cached: CachedObject): cached is StoredObject | null {
  return cached === null || cached.location !== undefined;
}

function weigh(key: string, cached: CachedObject): number {
  const keyWeight = entryBytes + 2 * key.length;
  if (cached === null) return keyWeight;
  const { text, location, bytes } = cached;
  const segments = typeof location === "object" ? location.length * segmentBytes : 0;
  return keyWeight + 2 * text.length + segments + (bytes?.byteLength ?? 0);
}

/** About the memory of a cache entry, and of a segment. */
const entryBytes = 200;
const segmentBytes = 150;

/** The parts of the runtime that a bucket uses: its database, the clock, and randomness. */

export interface BucketPlatform {
  readonly storage: Pick<DurableObjectStorage, "sql" | "transactionSync">;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly now: () => number;
  /** Random bytes in hexadecimal. */
  readonly randomHex: (bytes: number) => string;
  /** Of this runtime. */
  readonly runId: string;
  /** For messages. */
  readonly bucketName: string;
  readonly databasePath: string;
}

/** The fields of an object that is stored now. */
export function newVersion(
  { now, randomHex }: BucketPlatform,
  key: string,
): Pick<ObjectRecord, "key" | "version" | "uploaded"> {
  return { key, version: randomHex(16), uploaded: now() };
}
