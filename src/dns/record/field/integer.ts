import { problem, type Problem } from "../problem.ts";
import type { Field } from "./field.ts";

/** Some deployed clients send numbers as strings. */
export function readInteger(input: unknown): number | null {
  if (typeof input === "number") return Number.isSafeInteger(input) ? input : null;
  if (typeof input === "string" && /^\d{1,10}$/.test(input)) return Number(input);
  return null;
}

interface IntegerOptions {
  /** The words that a zone file may use for numbers, e.g. PKIX for a CERT type. */
  readonly mnemonics?: Readonly<Record<string, number>>;
  readonly refuse?: () => Problem;
}

export function integer(bits: 8 | 16 | 32, options: IntegerOptions = {}): Field<number> {
  const max = 2 ** bits - 1;
  const method = `uint${bits}` as const;
  return {
    accept(input, name) {
      const value = readInteger(input);
      if (value !== null && value >= 0 && value <= max) return value;
      return options.refuse?.() ?? problem.integerRange(name, 0, max);
    },
    compose: String,
    parse: ([token]) => options.mnemonics?.[token!.text.toUpperCase()] ?? token!.text,
    write: (writer, value) => writer[method](value),
    read: (reader) => reader[method](),
  };
}

/** The `priority` field of MX, SRV and URI records. */
export const priority = integer(16, { refuse: problem.priorityRange });
