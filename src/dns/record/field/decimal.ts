import { problem } from "../problem.ts";
import type { Field } from "./field.ts";

interface DecimalOptions {
  readonly min: number;
  readonly max: number;
  readonly fractionDigits: number;
  readonly unit?: string;
  readonly fallback?: number;
}

/** The record type itself writes fields that the wire form packs together. */
function packed(): never {
  throw new Error("The record type packs this field");
}

export function decimal(options: DecimalOptions): Field<number> {
  const { min, max, fractionDigits, unit = "" } = options;
  return {
    ...(options.fallback === undefined ? {} : { fallback: options.fallback }),
    accept(input, { field, report }) {
      const isNumber = typeof input === "string" && /^-?\d+(?:\.\d+)?$/.test(input);
      const value = isNumber ? Number(input) : input;
      const whole = fractionDigits > 0 || Number.isInteger(value);
      if (typeof value === "number" && whole && value >= min && value <= max) {
        // Adding 0 turns -0 into 0.
        return Number(value.toFixed(fractionDigits)) + 0;
      }
      const refuse = fractionDigits === 0 ? problem.integerRange : problem.decimalRange;
      report(refuse(field, min, max));
      return undefined;
    },
    compose: (value) => `${value.toFixed(fractionDigits)}${unit}`,
    parse: ([token]) => token!.text.replace(/m$/, ""),
    write: packed,
    read: packed,
  };
}

export function choice(values: readonly string[]): Field<string> {
  return {
    accept(input, { field, report }) {
      const value = typeof input === "string" ? input.toUpperCase() : "";
      if (values.includes(value)) return value;
      report(problem.notOneOf(field, values));
      return undefined;
    },
    compose: (value) => value,
    parse: ([token]) => token!.text,
    write: packed,
    read: packed,
  };
}
