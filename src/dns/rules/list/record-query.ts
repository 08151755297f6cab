/** The query parameters of a record list: filters, order and page. */
import type { ReportProblem } from "../../record/problem.ts";
import { toAsciiName } from "../../record/punycode.ts";
import { readChoice, readPage, type Page, type QueryParameters } from "./page.ts";

const recordsPerPageDefault = 100;
/** Deviation: larger pages are reduced to this size, which fits in a call between two isolates. */
const recordsPerPageMax = 20_000;

const textOperators = ["exact", "contains", "startswith", "endswith"] as const;
const orders = ["type", "name", "content", "ttl", "proxied"] as const;
const matches = ["any", "all"] as const;

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

function readTexts(
  parameters: QueryParameters,
  field: "name" | "content" | "comment",
): Condition[] {
  const conditions: Condition[] = [];
  for (const operator of ["", ...textOperators] as const) {
    const given = parameters.get(operator === "" ? field : `${field}.${operator}`);
    if (given === undefined || given === "") continue;
    const value =
      field === "name" ? toAsciiName(given).replace(/(?<=.)\.$/, "") : given.toLowerCase();
    conditions.push({ kind: "text", field, test: { operator: operator || "exact", value } });
  }
  return conditions;
}

function readTags(parameters: QueryParameters): Condition[] {
  const conditions: Condition[] = [];
  for (const operator of ["", ...textOperators] as const) {
    const given = parameters.get(operator === "" ? "tag" : `tag.${operator}`);
    if (given === undefined || given === "") continue;
    const colon = given.indexOf(":");
    const name = (colon < 0 ? given : given.slice(0, colon)).toLowerCase();
    const value = given.slice(colon + 1).toLowerCase();
    const test = colon < 0 ? null : { operator: operator || ("exact" as const), value };
    conditions.push({ kind: "tag", name, test, present: true });
  }
  for (const present of [true, false]) {
    const name = parameters.get(present ? "tag.present" : "tag.absent");
    if (name) conditions.push({ kind: "tag", name: name.toLowerCase(), test: null, present });
  }
  return conditions;
}

export function readRecordQuery(parameters: QueryParameters, report: ReportProblem): RecordQuery {
  const conditions: Condition[] = [
    ...readTexts(parameters, "name"),
    ...readTexts(parameters, "content"),
    ...readTexts(parameters, "comment"),
  ];
  for (const present of [true, false]) {
    if (parameters.has(present ? "comment.present" : "comment.absent")) {
      conditions.push({ kind: "comment", present });
    }
  }
  const type = parameters.get("type");
  if (type) conditions.push({ kind: "type", type: type.toUpperCase() });
  if (parameters.has("proxied")) {
    const choice = { name: "proxied", values: ["true", "false"], fallback: "false" } as const;
    conditions.push({
      kind: "proxied",
      proxied: readChoice(parameters, choice, report) === "true",
    });
  }
  const all = { values: matches, fallback: "all" } as const;
  return {
    conditions,
    tagConditions: readTags(parameters),
    match: readChoice(parameters, { ...all, name: "match" }, report),
    tagMatch: readChoice(parameters, { ...all, name: "tag_match" }, report),
    search: parameters.get("search")?.toLowerCase() || null,
    order: readChoice(parameters, { name: "order", values: orders, fallback: "type" }, report),
    ...readPage(
      parameters,
      { perPageDefault: recordsPerPageDefault, perPageMax: recordsPerPageMax },
      report,
    ),
  };
}
