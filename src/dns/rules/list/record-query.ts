/** The query parameters of a record list: filters, order and page. */
import type { ReportProblem } from "../../record/problem.ts";
import { toAsciiName } from "../../record/record-name.ts";
import { readChoice, readPage, type Page, type QueryParameters } from "./page.ts";

/** Deviation: larger pages are reduced to `max`, which fits in a call between two isolates. */
const recordsPerPage = { default: 100, max: 20_000 };

const textOperators = ["exact", "contains", "startswith", "endswith"] as const;
const orders = ["type", "name", "content", "ttl", "proxied"] as const;
export const matches = ["any", "all"] as const;

export type TextOperator = (typeof textOperators)[number];
export type Match = (typeof matches)[number];

export interface TextTest {
  readonly operator: TextOperator;
  /** In lower case, because text filters ignore case. */
  readonly value: string;
}

export type Condition =
  | {
      readonly kind: "text";
      readonly field: "name" | "content" | "comment";
      readonly test: TextTest;
    }
  | { readonly kind: "comment"; readonly present: boolean }
  | { readonly kind: "type"; readonly type: string }
  | { readonly kind: "proxied"; readonly proxied: boolean }
  | {
      readonly kind: "tag";
      readonly name: string;
      readonly test: TextTest | null;
      readonly present: boolean;
    };

export interface RecordQuery extends Page {
  readonly conditions: readonly Condition[];
  readonly tagConditions: readonly Condition[];
  readonly match: Match;
  readonly tagMatch: Match;
  /** Applies to name, content, comment and tags, independently of `match`. */
  readonly search: string | null;
  readonly order: (typeof orders)[number];
}

/** The parameters `field` and `field.operator` that are not empty; `field` alone means "exact". */
function* readOperators(
  parameters: QueryParameters,
  field: string,
): Generator<readonly [TextOperator, string]> {
  for (const operator of ["", ...textOperators] as const) {
    const given = parameters.get(operator === "" ? field : `${field}.${operator}`);
    if (given) yield [operator || "exact", given];
  }
}

function readTexts(parameters: QueryParameters): Condition[] {
  const conditions: Condition[] = [];
  for (const field of ["name", "content", "comment"] as const) {
    for (const [operator, given] of readOperators(parameters, field)) {
      const value =
        field === "name" ? toAsciiName(given).replace(/(?<=.)\.$/, "") : given.toLowerCase();
      conditions.push({ kind: "text", field, test: { operator, value } });
    }
  }
  return conditions;
}

function readTags(parameters: QueryParameters): Condition[] {
  const conditions: Condition[] = [];
  for (const [operator, given] of readOperators(parameters, "tag")) {
    const [, name, value] = /^([^:]*)(?::([^]*))?$/.exec(given.toLowerCase())!;
    const test = value === undefined ? null : { operator, value };
    conditions.push({ kind: "tag", name: name!, test, present: true });
  }
  for (const present of [true, false]) {
    const name = parameters.get(present ? "tag.present" : "tag.absent");
    if (name) conditions.push({ kind: "tag", name: name.toLowerCase(), test: null, present });
  }
  return conditions;
}

export function readRecordQuery(parameters: QueryParameters, report: ReportProblem): RecordQuery {
  const conditions = readTexts(parameters);
  for (const present of [true, false]) {
    if (parameters.has(present ? "comment.present" : "comment.absent")) {
      conditions.push({ kind: "comment", present });
    }
  }
  const type = parameters.get("type");
  if (type) conditions.push({ kind: "type", type: type.toUpperCase() });
  if (parameters.has("proxied")) {
    const choice = { name: "proxied", values: ["true", "false"], fallback: "false" } as const;
    const proxied = readChoice(parameters, choice, report) === "true";
    conditions.push({ kind: "proxied", proxied });
  }
  const all = { values: matches, fallback: "all" } as const;
  return {
    conditions,
    tagConditions: readTags(parameters),
    match: readChoice(parameters, { ...all, name: "match" }, report),
    tagMatch: readChoice(parameters, { ...all, name: "tag_match" }, report),
    search: parameters.get("search")?.toLowerCase() || null,
    order: readChoice(parameters, { name: "order", values: orders, fallback: "type" }, report),
    ...readPage(parameters, recordsPerPage, report),
  };
}
