/**
 * A record type is a list of fields in wire order and a check across the fields; `defineRecordType`
 * derives everything else. A type with the field `content` has no other place for its data in requests
 * and responses (A, CNAME, TXT, …); other types have `data`, and a `content` that is composed from
 * it. With `topLevelPriority` the priority is a field of the record and not part of the content.
 */
import { Reader, Writer } from "../wire/octets.ts";
import { problem, ZoneError, type Problem, type ReportProblem } from "./problem.ts";
import { splitTokens, type Token } from "./tokens.ts";

/** `content` writes hostnames bare, as the API does; `file` ends them with a dot. */
type TextForm = "content" | "file";

/**
 * A field of a record's data. One object converts between the four forms of a value: the JSON of a
 * request, the text in `content`, the text in a zone file, and the octets on the wire. A record
 * type is a list of fields in wire order, so that the four forms agree.
 */
export interface Field<Value extends string | number> {
  /** The value when a request omits the field; a field without a fallback is required. */
  readonly fallback?: Value | undefined;
  /** Whether the field takes all remaining words of a line. */
  readonly rest?: boolean;
  /** Returns the canonical value, or the problem with the input. */
  accept(input: unknown, name: string, type: string): Value | Problem;
  /** Without this function the text is the value. */
  compose?(value: Value, form: TextForm): string;
  /** Turns words of a zone file into an input of `accept`: without this function, the first word. */
  parse?(tokens: readonly Token[], origin: string): unknown;
  write(writer: Writer, value: Value): void;
  read(reader: Reader): Value;
}

type FieldValue<F> = F extends Field<infer Value> ? Value : never;

export type Rdata = Readonly<Record<string, unknown>>;

export interface RdataRequest {
  readonly content?: unknown;
  readonly data?: unknown;
  readonly priority?: unknown;
}

type Values<Fields> = { readonly [Name in keyof Fields]: FieldValue<Fields[Name]> };
// The registry holds types with different fields; TypeScript checks each definition.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyField = Field<any>;

interface Definition<Fields extends Readonly<Record<string, AnyField>>> {
  readonly fields: Fields;
  /** The content of a record, for people; a type that a request cannot create has none. */
  readonly example?: string;
  readonly topLevelPriority?: boolean;
  readonly proxiable?: boolean;
  /** The API resource that changes records of a type that a request cannot create. */
  readonly managedBy?: string | null;
  readonly check?: (rdata: Values<Fields>, report: ReportProblem, owner: string) => void;
}

export type RecordType = Readonly<ReturnType<typeof defineRecordType>>;

export function defineRecordType<const Fields extends Readonly<Record<string, AnyField>>>(
  type: string,
  code: number,
  definition: Definition<Fields>,
) {
  const shape = "content" in definition.fields ? ("content" as const) : ("data" as const);
  const { check, topLevelPriority = false, proxiable = false, managedBy = null } = definition;
  const { example = "" } = definition;
  const entries = Object.entries<AnyField>(definition.fields);
  const contentEntries = entries.filter(([name]) => !(topLevelPriority && name === "priority"));
  const dataEntries = entries.filter(([name]) => !(name === "priority" && type === "URI"));

  function source(request: RdataRequest, report: ReportProblem): Rdata | undefined {
    if (shape === "content") return { content: request.content, priority: request.priority };
    const data = request.data ?? {};
    if (typeof data !== "object" || Array.isArray(data)) {
      report(problem.notAnObject("data"));
      return undefined;
    }
    return topLevelPriority ? { priority: request.priority, ...data } : (data as Rdata);
  }

  function missing(name: string): Problem {
    const inData = shape === "data" && dataEntries.some(([field]) => field === name);
    return inData ? problem.requiredDataField(name) : problem.requiredField(name);
  }

  function accept(request: RdataRequest, owner: string, report: ReportProblem): Rdata | undefined {
    const values = source(request, report);
    if (values === undefined) return undefined;
    const rdata: Record<string, unknown> = {};
    for (const [name, field] of entries) {
      const input = values[name] ?? field.fallback;
      const value: string | number | Problem =
        input === undefined ? missing(name) : field.accept(input, name, type);
      if (typeof value === "object") report(value);
      else rdata[name] = value;
    }
    if (entries.some(([name]) => rdata[name] === undefined)) return undefined;
    check?.(rdata as Values<Fields>, report, owner);
    return rdata;
  }

  function composeFields(rdata: Rdata, list: typeof entries, form: TextForm): string {
    return list
      .map(([name, field]) => field.compose?.(rdata[name], form) ?? String(rdata[name]))
      .filter((word) => word !== "")
      .join(" ");
  }

  function parse(tokens: readonly Token[], origin: string, list = entries): RdataRequest | null {
    const values: Record<string, unknown> = {};
    let at = 0;
    for (const [name, field] of list) {
      const words = field.rest ? tokens.slice(at) : tokens.slice(at, at + 1);
      if (words.length === 0 && field.fallback === undefined) return null;
      if (words.length === 0) values[name] = field.fallback;
      else values[name] = field.parse === undefined ? words[0]!.text : field.parse(words, origin);
      at += words.length;
    }
    if (at < tokens.length) return null;
    return shape === "content" ? values : { data: values, priority: values["priority"] };
  }

  return {
    type,
    code,
    example,
    shape,
    topLevelPriority,
    proxiable,
    managedBy,
    /** In the order of presentation form. */
    fieldNames: entries.map(([name]) => name),
    accept,
    content: (rdata: Rdata) => composeFields(rdata, contentEntries, "content"),
    data: (rdata: Rdata): Rdata | null =>
      shape === "content"
        ? null
        : Object.fromEntries(dataEntries.map(([name]) => [name, rdata[name]])),
    parseContent(content: string, priority: number | null): Rdata {
      const request =
        shape === "content" ? { content } : parse(splitTokens(content), "", contentEntries);
      // `content()` composed this content, so that a problem is a broken invariant.
      const rdata = accept({ ...request, priority: priority ?? undefined }, "", () => {});
      if (rdata === undefined) throw new ZoneError([problem.contentInvalid(type)]);
      return rdata;
    },
    compose: (rdata: Rdata) => composeFields(rdata, entries, "file"),
    /** Turns presentation form into a request; `null` when the number of words is wrong. */
    parse: (tokens: readonly Token[], origin: string) => parse(tokens, origin),
    write(rdata: Rdata): Uint8Array {
      const writer = new Writer();
      for (const [name, field] of entries) field.write(writer, rdata[name]);
      return writer.finish();
    },
    read(message: Uint8Array, offset?: number, end?: number): Rdata {
      const reader = new Reader(message, offset, end);
      const rdata = Object.fromEntries(entries.map(([name, field]) => [name, field.read(reader)]));
      reader.expectEnd();
      return rdata;
    },
  };
}
