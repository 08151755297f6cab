/**
 * A field of a record's data. One object converts between the four forms of a value: the JSON of a
 * request, the text in `content`, the text in a zone file, and the octets on the wire. A record
 * type is a list of fields in wire order, so that the four forms agree.
 */
import type { Reader } from "../../wire/reader.ts";
import type { Writer } from "../../wire/writer.ts";
import type { Problem } from "../problem.ts";
import type { Token } from "../tokens.ts";

/** `content` writes hostnames bare, as the API does; `file` ends them with a dot. */
export type TextForm = "content" | "file";

export interface Field<Value extends string | number> {
  /** The value when a request omits the field; a field without a fallback is required. */
  readonly fallback?: Value | undefined;
  /** Whether the field takes all remaining words of a line. */
  readonly rest?: boolean;
  /** Returns the canonical value, or the problem with the input. */
  accept(input: unknown, name: string, type: string): Value | Problem;
  compose(value: Value, form: TextForm): string;
  /** Turns words of a zone file into an input of `accept`. */
  parse(tokens: readonly Token[], origin: string): unknown;
  write(writer: Writer, value: Value): void;
  read(reader: Reader): Value;
}

export type FieldValue<F> = F extends Field<infer Value> ? Value : never;
