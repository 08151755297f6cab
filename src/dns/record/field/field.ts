/**
 * A field of a record's data. One object knows the four forms of a value: what a request may
 * hold, the text in `content` and in a zone file, and the octets on the wire. A record type is
 * a list of fields in wire order, so that the four forms cannot drift apart.
 */
import type { Reader } from "../../wire/reader.ts";
import type { Writer } from "../../wire/writer.ts";
import type { Report } from "../problem.ts";
import type { Token } from "../../zone-file/scan.ts";

/** `content` writes hostnames bare, as the API does; `file` ends them with a dot. */
export type TextForm = "content" | "file";

interface FieldContext {
  readonly field: string;
  readonly type: string;
  readonly report: Report;
}

export interface Field<Value> {
  /** Used when a request leaves the field out; without it the field is required. */
  readonly fallback?: Value;
  /** The last field of a line may be written as several words. */
  readonly rest?: boolean;
  accept(input: unknown, context: FieldContext): Value | undefined;
  compose(value: Value, form: TextForm): string;
  /** Turns words of a zone file into something that `accept` takes. */
  parse(tokens: readonly Token[], origin: string): unknown;
  write(writer: Writer, value: Value): void;
  take(reader: Reader): Value;
}

export type FieldValue<F> = F extends Field<infer Value> ? Value : never;
