/**
 * The objects of a bucket: their rows, and the rows of their content, written together. Content to
 * which an object no longer refers is deleted in the same step.
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
import type { ByteRange } from "../core/byte-range.ts";
import { ownBuffer } from "../client/blob-directory.ts";
import {
  decodeSegments,
  encodeSegments,
  fitBodyToPage,
  segmentRange,
  sliceSegments,
  type Segment,
} from "../core/content.ts";
import { StoreError } from "../core/errors.ts";
import { GenerationalCache } from "../core/generational-cache.ts";
import { encodeFields, encodeMetadata, joinEncoded, type NewObject } from "../core/object.ts";
import type {
  Content,
  ContentSlice,
  EncodedObject,
  ObjectRecord,
  Operation,
} from "../core/operations.ts";
import { bodyMissing, damagedObject, verifyBody, type ContentTable } from "./contents.ts";
import { firstRow } from "./schema.ts";

/** The size of one generation of the cache, which has two. */
const generationBytesMax = 8 * 1024 * 1024;

/** The parts of the runtime that a bucket uses: its database, the clock, and randomness. */
export interface BucketPlatform {
  readonly storage: Pick<DurableObjectStorage, "sql" | "transactionSync">;
  readonly now: () => number;
  readonly randomHex: (bytes: number) => string;
  readonly runId: string;
  /** For messages. */
  readonly bucketName: string;
  readonly databasePath: string;
  /** @throws StoreError when the operation brings a file that no row may name */
  readonly requireFile: (operation: Operation) => void;
}

/** Where the content of an object is: the id of one body, or segments. */
type ContentLocation = number | readonly Segment[];

interface StoredObject {
  readonly text: EncodedObject;
  readonly location: ContentLocation;
  /** The content, if it is one body: then the query for the row returns it. */
  readonly bytes: ArrayBuffer | null;
}

/** An object, with the columns that were read so far; `null` for a key without an object. */
type CachedObject = (Pick<StoredObject, "text"> & Partial<StoredObject>) | null;

export class Objects {
  readonly #storage: BucketPlatform["storage"];
  readonly #sql: SqlStorage;
  readonly #contents: ContentTable;
  readonly #cache = new GenerationalCache<CachedObject>(generationBytesMax, weigh);
  #released: string[] = [];

  constructor(storage: BucketPlatform["storage"], contents: ContentTable) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#contents = contents;
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

  // SQLite returns the name of a column with every query, so the names are short.
  text(key: string): EncodedObject | null {
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached === null ? null : cached.text;
    const query = "SELECT fields AS f, metadata AS m FROM objects WHERE key = ?";
    const row = firstRow<[string, string | null]>(this.#sql.exec(query, key));
    const text = row === undefined ? null : joinEncoded(...row);
    this.#cache.set(key, text === null ? null : { text });
    return text;
  }

  /** @throws StoreError 10001 for an object without content */
  find(key: string): StoredObject | null {
    const cached = this.#cache.get(key);
    if (cached !== undefined && isWhole(cached)) return cached;
    const row = firstRow<ObjectRow>(
      this.#sql.exec(
        "SELECT fields AS f, metadata AS m, bytes AS b, tail AS e, body AS i, segments AS g " +
          "FROM objects LEFT JOIN bodies ON bodies.id = body WHERE key = ?",
        key,
      ),
    );
    const found = row === undefined ? null : storedObject(key, row);
    this.#cache.set(key, found);
    return found;
  }

  put(record: NewObject, content: Content): EncodedObject {
    if (!("bytes" in content)) return this.putSegments(record, [this.#contents.add(content)]);
    const { bytes } = content;
    const bodyLength = fitBodyToPage(bytes.length);
    const body = bytes.subarray(0, bodyLength);
    const tail = bodyLength < bytes.length ? bytes.subarray(bodyLength) : null;
    const bodyId = this.#cache.get(record.key)?.location;
    if (typeof bodyId !== "number") {
      return this.#putRow(record, this.#contents.addBody(body), tail, ownBuffer(bytes));
    }
    const fields = encodeFields(record);
    const metadata = encodeMetadata(record.http, record.custom);
    this.#storage.transactionSync(() => {
      this.#update([fields, metadata, bodyId, tail, null, record.key]);
      this.#contents.replaceBody(bodyId, body);
    });
    const text = joinEncoded(fields, metadata);
    this.#cache.set(record.key, { text, location: bodyId, bytes: ownBuffer(bytes) });
    return text;
  }

  /** `put`, with content that is stored already. */
  putSegments(record: NewObject, segments: readonly Segment[]): EncodedObject {
    return this.#putRow(record, segments, null, null);
  }

  #putRow(
    record: NewObject,
    location: ContentLocation,
    tail: Uint8Array | null,
    bytes: ArrayBuffer | null,
  ): EncodedObject {
    const { key, http, custom } = record;
    const fields = encodeFields(record);
    const metadata = encodeMetadata(http, custom);
    const isBody = typeof location === "number";
    const columns = [
      fields,
      metadata,
      isBody ? location : null,
      tail,
      isBody ? null : encodeSegments(location),
      key,
    ];
    // `rowsWritten` of the cursor would count the rows that triggers write.
    const inserted = this.#sql.exec(
      "INSERT INTO objects (fields, metadata, body, tail, segments, key) " +
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1",
      ...columns,
    );
    if (inserted.toArray().length === 0) {
      const query = `SELECT ${referenceColumn} FROM objects WHERE key = ?`;
      const old = firstRow<ReferenceColumn>(this.#sql.exec(query, key));
      if (old === undefined) throw new Error(`Cannot find the object that "${key}" replaces`);
      this.#update(columns);
      this.release([locationOf(old)]);
    }
    const text = joinEncoded(fields, metadata);
    this.#cache.set(key, { text, location, bytes });
    return text;
  }

  /** The content and the metadata stay, and `record` need not have them. */
  replaceFields(record: NewObject): void {
    this.#cache.delete(record.key);
    const statement = "UPDATE objects SET fields = ? WHERE key = ?";
    this.#sql.exec(statement, encodeFields(record), record.key);
  }

  #update(columns: readonly (string | number | Uint8Array | null)[]): void {
    this.#sql.exec(
      "UPDATE objects SET fields = ?, metadata = ?, body = ?, tail = ?, segments = ? WHERE key = ?",
      ...columns,
    );
  }

  /**
   * @param verify whether content in the database is compared with its MD5
   * @throws StoreError 10001 for content that is damaged in the database
   */
  read(
    { bytes, location }: StoredObject,
    { key, size, checksums }: ObjectRecord,
    { offset, length }: ByteRange,
    verify?: boolean,
  ): ContentSlice[] {
    const segments = location as readonly Segment[];
    if (verify) {
      const stored = bytes?.byteLength ?? segments.reduce((sum, each) => sum + each.size, 0);
      if (stored !== size) {
        throw damagedObject(key, `its content is ${stored} bytes, metadata says ${size}`);
      }
    }
    if (bytes !== null) {
      if (verify) verifyBody(key, bytes, checksums.md5 as string);
      return [{ bytes: bytes.slice(offset, offset + length) }];
    }
    const slices = sliceSegments(segments, { offset, length });
    return slices.map((slice) => this.#contents.read({ key, verify }, slice));
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
    const [first, second] = keys;
    const rows =
      second === undefined
        ? this.#sql.exec(`DELETE FROM objects WHERE key = ? RETURNING ${referenceColumn}`, first)
        : this.#sql.exec(
            "DELETE FROM objects WHERE key IN (SELECT value FROM json_each(?)) " +
              `RETURNING ${referenceColumn}`,
            JSON.stringify(keys),
          );
    this.release(Array.from(rows.raw<ReferenceColumn>(), locationOf));
  }

  /** Deletes content to which no object and no part refers. */
  release(locations: readonly (number | readonly Pick<Segment, "place">[])[]): void {
    const places = locations.flatMap((location) =>
      typeof location === "number" ? location : location.map((segment) => segment.place),
    );
    this.#released.push(...this.#contents.release(places));
  }
}

type ObjectRow = [
  fields: string,
  metadata: string | null,
  body: ArrayBuffer | null,
  tail: ArrayBuffer | null,
  bodyId: number | null,
  segments: string | null,
];

function storedObject(
  key: string,
  [fields, metadata, body, tail, bodyId, segments]: ObjectRow,
): StoredObject {
  const text = joinEncoded(fields, metadata);
  if (bodyId !== null && body !== null) {
    return { text, location: bodyId, bytes: tail === null ? body : joinBuffers(body, tail) };
  }
  if (segments === null) throw damagedObject(key, bodyMissing);
  return { text, location: decodeSegments(segments), bytes: null };
}

/** Joined here and not in SQL, where the longest bodies would be copied as well. */
function joinBuffers(body: ArrayBuffer, tail: ArrayBuffer): ArrayBuffer {
  const bytes = new Uint8Array(body.byteLength + tail.byteLength);
  bytes.set(new Uint8Array(body));
  bytes.set(new Uint8Array(tail), body.byteLength);
  return bytes.buffer;
}

/** The id of the body, or the segments. One column costs less than two. */
const referenceColumn = "coalesce(segments, body) AS r";
type ReferenceColumn = [number | string | null];

/** A row without content has no content to delete. */
function locationOf([reference]: ReferenceColumn): ContentLocation {
  return typeof reference === "string" ? decodeSegments(reference) : (reference ?? []);
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
