/** The hex view: 16 bytes a row, pages of 4 KiB, and the offset that a person types. */
import { encodeHex } from "../../../base/hex.ts";

export const hexPageBytes = 4096;
const rowBytes = 16;

export interface HexRow {
  readonly offset: string;
  /** Two groups of eight bytes. */
  readonly bytes: string;
  /** A point stands for a byte that is not printable ASCII. */
  readonly text: string;
}

export function hexRows(bytes: Uint8Array, pageStart: number): readonly HexRow[] {
  const rows: HexRow[] = [];
  for (let index = 0; index < bytes.length; index += rowBytes) {
    const row = bytes.subarray(index, index + rowBytes);
    const pairs = encodeHex(row).match(/../g) ?? [];
    rows.push({
      offset: offsetText(pageStart + index),
      bytes: [pairs.slice(0, 8).join(" "), pairs.slice(8).join(" ")].join("  ").trimEnd(),
      text: Array.from(row, printable).join(""),
    });
  }
  return rows;
}

function printable(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".";
}

/** At least eight digits; an offset of 4 GiB or more has more. */
export function offsetText(offset: number): string {
  return offset.toString(16).padStart(8, "0");
}

/** Where the page with the offset begins. */
export function hexPageStart(offset: number): number {
  return offset - (offset % hexPageBytes);
}

/**
 * The offset that a person types: decimal, or hexadecimal with `0x`. `null` if the text is no offset
 * inside the object.
 */
export function parseOffset(text: string, size: number): number | null {
  const digits = text.trim().replaceAll(/[,_ ]/g, "");
  if (!/^(?:0x[0-9a-f]+|[0-9]+)$/i.test(digits)) return null;
  const offset = Number(digits);
  return offset < size ? offset : null;
}
