/**
 * Objects and their content, kept in step: whatever an object no longer refers to is forgotten in
 * the same step.
 *
 * How many statements a call takes is most of what it costs, so a new object is two: its row, and
 * the row of its body. Only when the first says that the key is taken is the old one looked up.
 *
 * Objects that were stored or read a moment ago take none to be read: they are remembered. All that
 * changes a bucket's objects goes through here, for no other process has the database.
 */
import { splitBody } from "../core/body-split.ts";
import type { ByteRange } from "../core/byte-range.ts";
import { encodeFields, encodeMetadata, joinText, type ObjectText } from "../core/object-text.ts";
import type { ContentSlice, ObjectRecord } from "../core/operations.ts";
import { Recent } from "../core/recent.ts";
import { sliceSegments, type Segment } from "../core/segment.ts";
import type { CheckedContent, ContentTable } from "./content-table.ts";
import type { ObjectRow, ObjectTable, Place, StoredObject } from "./object-table.ts";

/** Of objects that are remembered: half of what they may take in memory. */
const recentBytesMax = 8 * 1024 * 1024;

/** An object, as far as anybody has asked for it; `null` where there is none. */
type KnownObject = (Pick<StoredObject, "text"> & Partial<StoredObject>) | null;

export class ObjectStore {
  readonly #objects: ObjectTable;
  readonly #contents: ContentTable;
  readonly #recent = new Recent<KnownObject>(recentBytesMax, weigh);
  #released: string[] = [];

  constructor(objects: ObjectTable, contents: ContentTable) {
    this.#objects = objects;
    this.#contents = contents;
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

  text(key: string): ObjectText | null {
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
  put(record: Required<ObjectRecord>, checked: CheckedContent): ObjectText {
    return "bytes" in checked.content
      ? this.#putBody(record, checked.content.bytes)
      : this.putSegments(record, [this.#contents.add(checked)]);
  }

  /** `put`, with content that is kept already. */
  putSegments(record: Required<ObjectRecord>, segments: readonly Segment[]): ObjectText {
    const row = objectRow(record, segments, null);
    const old = this.#insert(row);
    if (old !== null) {
      this.release([old]);
      this.#objects.update(row);
    }
    return this.#remember(row, null);
  }

  #putBody(record: Required<ObjectRecord>, bytes: Uint8Array): ObjectText {
    const kept = splitBody(bytes.length);
    const body = bytes.subarray(0, kept);
    const id = this.#contents.newId();
    const row = objectRow(record, id, kept < bytes.length ? bytes.subarray(kept) : null);
    const old = this.#insert(row);
    if (typeof old === "number") {
      const inPlace = { ...row, place: old };
      this.#objects.update(inPlace);
      this.#contents.replaceBody(old, body);
      return this.#remember(inPlace, ownBuffer(bytes));
    }
    if (old !== null) {
      this.release([old]);
      this.#objects.update(row);
    }
    this.#contents.addBody(id, body);
    return this.#remember(row, ownBuffer(bytes));
  }

  /** Stores an object if there is none of its key; where there is, says where its content is. */
  #insert(row: ObjectRow): Place | null {
    const known = this.#recent.get(row.key)?.place;
    if (known !== undefined) return known;
    if (this.#objects.insert(row)) return null;
    const place = this.#objects.place(row.key);
    if (place === null) throw new Error("Cannot find an object that must be there");
    return place;
  }

  #remember({ key, fields, metadata, place }: ObjectRow, bytes: ArrayBuffer | null): ObjectText {
    const text = joinText(fields, metadata);
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
