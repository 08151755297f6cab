/** Fields of LOC. The wire form packs them together, so that the record type itself writes them. */
import { problem } from "../problem.ts";
import type { Field } from "./field.ts";

function packed(): never {
  throw new Error("The record type packs this field");
}

export function decimal(options: {
  readonly min: number;
  readonly max: number;
  readonly fractionDigits: number;
  readonly unit?: string;
  readonly fallback?: number;
}): Field<number> {
  const { min, max, fractionDigits, unit = "", fallback } = options;
  return {
    fallback,
    accept(input, name) {
      const isNumber = typeof input === "string" && /^-?\d+(?:\.\d+)?$/.test(input);
      const value = isNumber ? Number(input) : input;
      const whole = fractionDigits > 0 || Number.isInteger(value);
      if (typeof value === "number" && whole && value >= min && value <= max) {
        // Adding 0 turns -0 into 0.
        return Number(value.toFixed(fractionDigits)) + 0;
      }
      const refuse = fractionDigits === 0 ? problem.integerRange : problem.decimalRange;
      return refuse(name, min, max);
    },
    compose: (value) => `${value.toFixed(fractionDigits)}${unit}`,
    parse: ([token]) => token!.text.replace(/m$/, ""),
    write: packed,
    read: packed,
  };
}

export function choice(values: readonly string[]): Field<string> {
  return {
    accept(input, name) {
      const value = typeof input === "string" ? input.toUpperCase() : "";
      return values.includes(value) ? value : problem.notOneOf(name, values);
    },
    compose: (value) => value,
    parse: ([token]) => token!.text,
    write: packed,
    read: packed,
  };
}
