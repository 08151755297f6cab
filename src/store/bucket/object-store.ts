/**
 * Objects and their content, kept in step: whatever an object no longer refers to is forgotten in
 * the same step.
 *
 * How many statements a call takes is most of what it costs, so a new object is two: its row, and
 * the row of its body. Only when the first says that the key is taken is the old one looked up.
 */
import { splitBody } from "../core/body-split.ts";
import type { ByteRange } from "../core/byte-range.ts";
import { encodeFields, encodeMetadata, joinText, type ObjectText } from "../core/object-text.ts";
import type { ContentSlice, ObjectRecord } from "../core/operations.ts";
import { sliceSegments, type Segment } from "../core/segment.ts";
import type { CheckedContent, ContentTable } from "./content-table.ts";
import type { ObjectRow, ObjectTable, Place, StoredObject } from "./object-table.ts";

export class ObjectStore {
  readonly #objects: ObjectTable;
  readonly #contents: ContentTable;
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

  /** Stores an object in place of the one of its key. */
  put(record: Required<ObjectRecord>, checked: CheckedContent): ObjectText {
    return "bytes" in checked.content
      ? this.#putBody(record, checked.content.bytes)
      : this.putSegments(record, [this.#contents.add(checked)]);
  }

  /** `put`, with content that is kept already. */
  putSegments(record: Required<ObjectRecord>, segments: readonly Segment[]): ObjectText {
    const row = objectRow(record, segments, null);
    if (!this.#objects.insert(row)) {
      this.release([this.#oldPlace(record.key)]);
      this.#objects.update(row);
    }
    return joinText(row.fields, row.metadata);
  }

  #putBody(record: Required<ObjectRecord>, bytes: Uint8Array): ObjectText {
    const kept = splitBody(bytes.length);
    const body = bytes.subarray(0, kept);
    const id = this.#contents.newId();
    const row = objectRow(record, id, kept < bytes.length ? bytes.subarray(kept) : null);
    if (this.#objects.insert(row)) {
      this.#contents.addBody(id, body);
      return joinText(row.fields, row.metadata);
    }
    const old = this.#oldPlace(record.key);
    if (typeof old === "number") {
      this.#objects.update({ ...row, place: old });
      this.#contents.replaceBody(old, body);
    } else {
      this.release([old]);
      this.#objects.update(row);
      this.#contents.addBody(id, body);
    }
    return joinText(row.fields, row.metadata);
  }

  #oldPlace(key: string): Place {
    const place = this.#objects.place(key);
    if (place === null) throw new Error("Cannot find an object that must be there");
    return place;
  }

  read({ bytes, segments }: StoredObject, range: ByteRange): ContentSlice[] {
    if (bytes !== null) return [{ bytes: bytes.slice(range.offset, range.offset + range.length) }];
    return sliceSegments(segments, range).map((slice) => this.#contents.read(slice));
  }

  remove(keys: readonly string[]): void {
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
