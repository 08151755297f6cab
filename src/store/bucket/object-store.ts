/**
 * Objects and their content, kept in step: whatever an object no longer refers to is forgotten in
 * the same step.
 *
 * How many statements a call takes is most of what it costs, so a new object is two: the row of its
 * body, and its own. Only when the second says that the key is taken is the old one looked up.
 * Content comes first, then the row that refers to it, then old content is forgotten: wherever that
 * breaks, all that is left over is content that nobody refers to. So a new object needs no
 * savepoint, which would cost as much as a statement. A body that takes the place of one whose id is
 * at hand does, for it is written over the old one.
 *
 * Objects that were stored or read a moment ago take none to be read: they are remembered. All that
 * changes a bucket's objects goes through here, for no other process has the database.
 */
import { fitBodyToPage } from "../core/page-fit.ts";
import type { ByteRange } from "../core/byte-range.ts";
import {
  encodeFields,
  encodeMetadata,
  joinEncoded,
  type EncodedObject,
} from "../core/object-encoding.ts";
import type { ContentSlice, ObjectRecord } from "../core/operations.ts";
import { GenerationalCache } from "../core/generational-cache.ts";
import { sliceSegments, type Segment } from "../core/content-segment.ts";
import type { CheckedContent, ContentTable } from "./content-table.ts";
import type { ObjectRow, ObjectTable, Place, StoredObject } from "./object-table.ts";

/** Of objects that are remembered: half of what they may take in memory. */
const recentBytesMax = 8 * 1024 * 1024;

/** An object, as far as anybody has asked for it; `null` where there is none. */
type KnownObject = (Pick<StoredObject, "text"> & Partial<StoredObject>) | null;

export class ObjectStore {
  readonly #objects: ObjectTable;
  readonly #contents: ContentTable;
  readonly #recent = new GenerationalCache<KnownObject>(recentBytesMax, weigh);
  readonly #transact: (write: () => void) => void;
  #released: string[] = [];

  constructor(objects: ObjectTable, contents: ContentTable, transact: (write: () => void) => void) {
    this.#objects = objects;
    this.#contents = contents;
    this.#transact = transact;
  }

  get bytesTaken(): number {
    return this.#contents.bytesTaken;
  }

  /** Files that nothing refers to any more, since this was last asked. */
  takeReleased(): string[] {
    const released = this.#released;
    if (released.length > 0) this.#released = [];
    return released;
  }

  /** The transaction was undone: what was remembered or released in it never happened. */
  rollBack(): void {
    this.#recent.clear();
    this.#released = [];
  }

  text(key: string): EncodedObject | null {
    const known = this.#recent.get(key);
    if (known !== undefined) return known === null ? null : known.text;
    const text = this.#objects.text(key);
    this.#recent.set(key, text === null ? null : { text });
    return text;
  }

  find(key: string): StoredObject | null {
    const known = this.#recent.get(key);
    if (known !== undefined && isWhole(known)) return known;
    const found = this.#objects.find(key);
    this.#recent.set(key, found);
    return found;
  }

  /** Stores an object in place of the one of its key. */
  put(record: Required<ObjectRecord>, checked: CheckedContent): EncodedObject {
    return "bytes" in checked.content
      ? this.#putBody(record, checked.content.bytes)
      : this.putSegments(record, [this.#contents.add(checked)]);
  }

  /** `put`, with content that is kept already. */
  putSegments(record: Required<ObjectRecord>, segments: readonly Segment[]): EncodedObject {
    return this.#putRow(objectRow(record, segments, null), null);
  }

  #putBody(record: Required<ObjectRecord>, bytes: Uint8Array): EncodedObject {
    const kept = fitBodyToPage(bytes.length);
    const body = bytes.subarray(0, kept);
    const tail = kept < bytes.length ? bytes.subarray(kept) : null;
    const known = this.#recent.get(record.key)?.place;
    if (typeof known !== "number") {
      const id = this.#contents.addBody(body);
      return this.#putRow(objectRow(record, id, tail), ownBuffer(bytes));
    }
    const row = objectRow(record, known, tail);
    this.#transact(() => {
      this.#objects.update(row);
      this.#contents.replaceBody(known, body);
    });
    return this.#remember(row, ownBuffer(bytes));
  }

  #putRow(row: ObjectRow, bytes: ArrayBuffer | null): EncodedObject {
    if (!this.#objects.insert(row)) {
      const old = this.#objects.place(row.key);
      if (old === null) throw new Error("Cannot find an object that must be there");
      this.#objects.update(row);
      this.release([old]);
    }
    return this.#remember(row, bytes);
  }

  #remember({ key, fields, metadata, place }: ObjectRow, bytes: ArrayBuffer | null): EncodedObject {
    const text = joinEncoded(fields, metadata);
    this.#recent.set(key, { text, place, bytes });
    return text;
  }

  read({ bytes, place }: StoredObject, range: ByteRange): ContentSlice[] {
    if (bytes !== null) return [{ bytes: bytes.slice(range.offset, range.offset + range.length) }];
    const segments = place as readonly Segment[];
    return sliceSegments(segments, range).map((slice) => this.#contents.read(slice));
  }

  remove(keys: readonly string[]): void {
    for (const key of keys) this.#recent.delete(key);
    this.release(this.#objects.remove(keys));
  }

  /** Forgets content. */
  release(places: readonly Place[]): void {
    const released = places.flatMap((place) =>
      typeof place === "number" ? place : place.map((segment) => segment.place),
    );
    this.#released.push(...this.#contents.release(released));
  }
}

function objectRow(
  record: Required<ObjectRecord>,
  place: Place,
  tail: Uint8Array | null,
): ObjectRow {
  const metadata = encodeMetadata(record.http, record.custom);
  return { key: record.key, fields: encodeFields(record), metadata, place, tail };
}

function isWhole(known: KnownObject): known is StoredObject | null {
  return known === null || known.place !== undefined;
}

function weigh(key: string, known: KnownObject): number {
  const keyWeight = entryWeight + 2 * key.length;
  if (known === null) return keyWeight;
  const { text, place, bytes } = known;
  const segments = typeof place === "object" ? place.length * segmentWeight : 0;
  return keyWeight + 2 * text.length + segments + (bytes?.byteLength ?? 0);
}

/** About what the memory of an entry takes, and of a segment. */
const entryWeight = 200;
const segmentWeight = 150;

function ownBuffer({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  const whole = byteLength === buffer.byteLength;
  return (whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)) as ArrayBuffer;
}
