/**
 * The checksums of the rows of a bucket: what each covers, and how a reader verifies a row of which
 * it has read a part.
 *
 *     item_checksum     the key and the fields, as a listing has them in JSON
 *     checksum          the sum of `item_checksum` and of the checksum of the metadata
 *     content_checksum  the body with its tail, plus the body's id; or the text of the segments
 *
 * Each serves a reader: a listing without metadata, `head`, and `get`. Sums, because SQLite sums
 * the rows of a page (`bucket/object-table.ts`), and a page takes one comparison.
 */
import { StoreError } from "./errors.ts";
import { checksumOfBytes, isSameChecksum, storedChecksum, TextChecksums } from "./row-checksum.ts";

/** The columns of an object's row that its checksums cover. */
interface SealedObject {
  readonly key: string;
  readonly fields: string;
  readonly metadata: string | null;
  readonly body: number | null;
  /** The text of the segments, or the bytes of the body with its tail. */
  readonly content: string | Uint8Array;
}

type Column = string | number | null;

interface ObjectSeal {
  readonly itemChecksum: number;
  readonly checksum: number;
  readonly contentChecksum: number;
}

export class RowSeals extends TextChecksums {
  sealObject({ key, fields, metadata, body, content }: SealedObject): ObjectSeal {
    const itemChecksum = this.of(itemText(key, fields));
    const metadataChecksum = metadata === null ? 0 : this.of(metadata);
    return {
      itemChecksum: storedChecksum(itemChecksum),
      checksum: storedChecksum(itemChecksum + metadataChecksum),
      contentChecksum: storedChecksum(this.#ofContent(content) + (body ?? 0)),
    };
  }

  /**
   * Whether an item of a listing is intact.
   *
   * @param item `itemText()` of the row
   * @param checksum the column of that name; `item_checksum` if the metadata was not read
   */
  isItemIntact(item: string, metadata: string | null, checksum: number): boolean {
    // A damaged row may have a value of another type.
    if (metadata !== null && typeof metadata !== "string") return false;
    const sum = this.of(item) + (metadata === null ? 0 : this.of(metadata));
    return isSameChecksum(sum, checksum);
  }

  /** @param body the id of the body, for the content of an object */
  isContentIntact(
    content: string | ArrayBuffer | Uint8Array,
    contentChecksum: number,
    body: number | null = null,
  ): boolean {
    if (typeof content !== "string" && typeof content !== "object") return false;
    return isSameChecksum(this.#ofContent(content) + (body ?? 0), contentChecksum);
  }

  /**
   * The checksum of a row all of whose columns are read together: an upload, or a part.
   *
   * @param added for each later format the columns that it has added. Where a row does not have
   *   them, the first is `null`
   */
  sealColumns(columns: readonly Column[], ...added: (readonly [Column, ...Column[]])[]): number {
    const present = added.filter(([first]) => first !== null).flat();
    return storedChecksum(this.of(JSON.stringify([...columns, ...present])));
  }

  #ofContent(content: string | ArrayBuffer | Uint8Array): number {
    return typeof content === "string" ? this.of(content) : checksumOfBytes(content);
  }
}

/** The key and the fields of an object as a listing has them, which SQLite writes as well. */
export function itemText(key: string, fields: string): string {
  return `${JSON.stringify(key)},${fields}`;
}

/** The error of an object whose row, or whose content in the database, is damaged. */
export function damagedRow(key: string, what: string): StoreError {
  return new StoreError(
    10001,
    `Cannot read "${key}": ${what}. The object is damaged; put it again or delete it.`,
  );
}

export const rowDamage = "its row in the database does not match the row's checksum";
export const bodyDamage = "its content in the database does not match the content's checksum";
export const bodyMissing = "its content is missing in the database";
