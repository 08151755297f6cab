/**
 * The building blocks of every configuration schema: `[[store_buckets]]`, `[dns]`, the options of a
 * plugin's binding, and the variables of the companion worker.
 *
 * A schema reports all mistakes of a value, each with its path and its problem. A problem is a
 * predicate without a subject ("must be a hostname"), because the caller knows how to name the
 * field. This file is pure: Node and the companion worker both import it.
 */
import * as v from "valibot";
import { nearest, unknownKey } from "./nearest.ts";

export type Table = Readonly<Record<string, unknown>>;

/** The keys and indices that lead to a value: `["store_buckets", 0, "binding"]`. */
export type Path = readonly (string | number)[];

export interface Mistake {
  readonly path: Path;
  readonly problem: string;
}

export type ReportMistake = (path: Path, problem: string) => void;

/** A table, before the values of its keys are checked. */
type TableOf<Entries extends v.ObjectEntries> = v.GenericSchema<
  unknown,
  v.InferInput<v.ObjectSchema<Entries, undefined>>
>;

/**
 * Parses `input`, which stands at `path`.
 *
 * @returns the output of the schema; `null` after mistakes were reported
 */
export function parseValue<Output>(
  schema: v.GenericSchema<unknown, Output>,
  input: unknown,
  path: Path,
  report: ReportMistake,
): Output | null {
  const { success, output, issues } = v.safeParse(schema, input);
  if (success) return output;
  for (const issue of issues) {
    const steps = issue.path?.map(({ key }) => key as string | number) ?? [];
    report([...path, ...steps], issue.message);
  }
  return null;
}

/** Keywords of JSON Schema: `scripts/write-config-schema.ts` makes the schema for editors. */
type Keywords = Readonly<Record<string, unknown>>;

/** Says what a key means, for editors. */
export function described<Schema extends v.GenericSchema>(
  description: string,
  schema: Schema,
  keywords: Keywords = {},
): Schema {
  return v.pipe(schema, v.metadata({ description, ...keywords })) as unknown as Schema;
}

export function optional<
  const Schema extends v.GenericSchema,
  const Default extends v.Default<Schema, undefined> = undefined,
>(description: string, schema: Schema, value?: Default): v.OptionalSchema<Schema, Default> {
  return described(description, v.optional(schema, value as Default));
}

export function nullish<
  const Schema extends v.GenericSchema,
  const Default extends v.Default<Schema, null | undefined> = undefined,
>(description: string, schema: Schema, value?: Default): v.NullishSchema<Schema, Default> {
  return described(description, v.nullish(schema, value as Default));
}

/**
 * A value that `parse` accepts; `parse` returns `null` for any other value.
 *
 * @param keywords what an editor can know of the value
 */
export function valueSchema<Output>(
  parse: (input: unknown) => Output | null,
  problem: string | ((input: unknown) => string),
  keywords: Keywords,
) {
  return v.pipe(
    v.unknown(),
    v.metadata(keywords),
    v.rawTransform<unknown, Output>(({ dataset, addIssue, NEVER }) => {
      const output = parse(dataset.value);
      if (output !== null) return output;
      addIssue({ message: typeof problem === "string" ? problem : problem(dataset.value) });
      return NEVER;
    }),
  );
}

export function textSchema<Output>(
  parse: (text: string) => Output | null,
  problem: string | ((text: string) => string),
  keywords: Keywords = {},
) {
  return valueSchema(
    (input) => (typeof input === "string" ? parse(input) : null),
    (input) => {
      if (typeof input !== "string") return `must be text, not ${kindOf(input)}`;
      return typeof problem === "string" ? problem : problem(input);
    },
    { type: "string", ...keywords },
  );
}

export function textMatchingSchema(pattern: RegExp, problem: string | ((text: string) => string)) {
  const keywords = { pattern: pattern.source };
  return textSchema((input) => (pattern.test(input) ? input : null), problem, keywords);
}

const identifierPattern = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

export function isIdentifier(input: unknown): input is string {
  return typeof input === "string" && identifierPattern.test(input);
}

export const identifierSchema = textSchema(
  (name) => (isIdentifier(name) ? name : null),
  (name) => {
    const similar = name.replace(/[^\p{ID_Continue}$]+/gu, "_").replace(/^(?=\d)|^$/, "_");
    return (
      `${JSON.stringify(name)} is not a JavaScript identifier, so a script cannot write ` +
      `env.${name}. Use letters, digits, "_" and "$", as in "${similar.toUpperCase()}"`
    );
  },
);

export function oneOfSchema<const Option extends string>(options: readonly Option[]) {
  const names = options.map((option) => `"${option}"`);
  const choice = names.join(", ").replace(/, ([^,]*)$/, " or $1");
  return v.picklist(options, ({ input }) => `must be ${choice}, not ${JSON.stringify(input)}`);
}

export function integerSchema(min: number, max: number) {
  return valueSchema(
    (input) => (isIntegerBetween(input, min, max) ? input : null),
    `must be a whole number from ${min} to ${max}`,
    { type: "integer", minimum: min, maximum: max },
  );
}

export const booleanSchema = v.boolean("must be true or false");

export function listSchema<Item extends v.GenericSchema>(item: Item, problem = "must be a list") {
  return v.array(item, problem);
}

export const anyTableSchema = v.custom<Table>(
  isTable,
  ({ input }) => `must be a table, not ${kindOf(input)}`,
);

/** A table whose other keys are ignored. All keys of `entries` are optional. */
export function looseTableSchema<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(anyTableSchema as TableOf<Entries>, v.object(entries));
}

/**
 * A table that has the keys of `entries` and no others. A key whose schema is not optional is
 * required, and `examples` has a value of each.
 */
export function tableSchema<const Entries extends v.ObjectEntries>(
  entries: Entries,
  examples: { readonly [Key in keyof Entries]?: string } = {},
) {
  const known = Object.keys(entries);
  const missing = ({ path }: v.ObjectIssue): string => {
    const example = examples[path?.[0]?.key as string];
    return `is missing. Add it, as in ${JSON.stringify(example)}`;
  };
  return v.lazy((input) => {
    // valibot's own strict object reports only the first unknown key.
    const unknown = Object.keys(isTable(input) ? input : {}).filter((key) => !known.includes(key));
    // A misspelt key is reported as such, and not as missing too.
    const misspelt = unknown.flatMap((key) => nearest(key, known) ?? []);
    const lenient = Object.fromEntries(misspelt.map((key) => [key, v.optional(v.unknown())]));
    return v.pipe(
      anyTableSchema as TableOf<Entries>,
      v.object({ ...entries, ...lenient }, missing) as v.ObjectSchema<Entries, typeof missing>,
      v.rawCheck(({ addIssue }) => {
        for (const key of unknown) {
          const path: v.UnknownPathItem = {
            type: "unknown",
            origin: "key",
            input,
            key,
            value: key,
          };
          addIssue({ message: unknownKey(key, known), path: [path] });
        }
      }),
      v.metadata({ additionalProperties: false }),
    );
  });
}

export function isTable(input: unknown): input is Table {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

export function isIntegerBetween(input: unknown, min: number, max: number): input is number {
  return Number.isInteger(input) && Number(input) >= min && Number(input) <= max;
}

/** `a number`, as in "must be text, not a number" */
function kindOf(input: unknown): string {
  if (Array.isArray(input)) return "a list";
  if (input === null) return "null";
  if (input instanceof Date) return "a date without quotes";
  if (typeof input === "string") return "text";
  return typeof input === "object" ? "a table" : `a ${typeof input}`;
}

/** The path as a message shows it: `store_buckets[0].binding`. */
export function fieldName(path: Path): string {
  return path.reduce<string>((name, step) => {
    if (typeof step === "number") return `${name}[${step}]`;
    return name === "" ? step : `${name}.${step}`;
  }, "");
}

/** The mistake as a sentence about its field. */
export function describeMistake({ path, problem }: Mistake): string {
  return `${fieldName(path)} ${problem}${/[.?!]$/.test(problem) ? "" : "."}`;
}
