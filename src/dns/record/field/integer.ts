import { problem, type Problem } from "../problem.ts";
import type { Field } from "./field.ts";

const maxByBits = { 8: 2 ** 8 - 1, 16: 2 ** 16 - 1, 32: 2 ** 32 - 1 } as const;

/** Some deployed clients send numbers as strings. */
export function readInteger(input: unknown): number | null {
  if (typeof input === "number") return Number.isSafeInteger(input) ? input : null;
  if (typeof input === "string" && /^\d{1,10}$/.test(input)) return Number(input);
  return null;
}

interface IntegerOptions {
  /** The words that a zone file may use for numbers, e.g. PKIX for a CERT type. */
  readonly mnemonics?: Readonly<Record<string, number>>;
  readonly refuse?: (field: string) => Problem;
}

export function integer(bits: keyof typeof maxByBits, options: IntegerOptions = {}): Field<number> {
  const max = maxByBits[bits];
  return {
    accept(input, { field, report }) {
      const value = readInteger(input);
      if (value !== null && value >= 0 && value <= max) return value;
      report(options.refuse?.(field) ?? problem.integerRange(field, 0, max));
      return undefined;
    },
    compose: String,
    parse([token]) {
      return options.mnemonics?.[token!.text.toUpperCase()] ?? token!.text;
    },
    write(writer, value) {
      if (bits === 8) writer.uint8(value);
      else if (bits === 16) writer.uint16(value);
      else writer.uint32(value);
    },
    read(reader) {
      if (bits === 8) return reader.uint8();
      return bits === 16 ? reader.uint16() : reader.uint32();
    },
  };
}

/** The `priority` field of MX, SRV and URI records. */
export const priority = integer(16, { refuse: () => problem.priorityRange() });
