/** Query parameters of a list, into a query that names columns and operators but no SQL. */
import { problem, type Report } from "../../record/problem.ts";
import { toAsciiName } from "../../record/punycode.ts";

export const recordsPerPageDefault = 100;
/** Deviation: larger pages are cut to this, which is what one call between two isolates carries. */
export const recordsPerPageMax = 20_000;

const textOperators = ["exact", "contains", "startswith", "endswith"] as const;
const orders = ["type", "name", "content", "ttl", "proxied"] as const;
const directions = ["asc", "desc"] as const;
const matches = ["any", "all"] as const;

export type TextOperator = (typeof textOperators)[number];
export type Match = (typeof matches)[number];

export interface TextTest {
  readonly operator: TextOperator;
  /** In lower case: text filters ignore case. */
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

export interface ListQuery extends Page {
  readonly conditions: readonly Condition[];
  readonly tagConditions: readonly Condition[];
  readonly match: Match;
  readonly tagMatch: Match;
  /** Looks at name, content, comment and tags, whatever `match` says. */
  readonly search: string | null;
  readonly order: (typeof orders)[number];
}

export type Parameters = ReadonlyMap<string, string>;

export function readChoice<const Values extends readonly string[]>(
  parameters: Parameters,
  choice: { readonly name: string; readonly values: Values; readonly fallback: Values[number] },
  report: Report,
): Values[number] {
  const given = parameters.get(choice.name);
  if (given === undefined || given === "") return choice.fallback;
  const found = choice.values.find((value) => value === given.toLowerCase());
  if (found === undefined) report(problem.notOneOf(choice.name, choice.values));
  return found ?? choice.fallback;
}

function readCount(
  parameters: Parameters,
  count: { readonly name: string; readonly fallback: number; readonly max: number },
  report: Report,
): number {
  const given = parameters.get(count.name);
  if (given === undefined || given === "") return count.fallback;
  const value = /^\d{1,15}$/.test(given) ? Number(given) : 0;
  if (value < 1) report(problem.valueInvalid(count.name, "a whole number from 1 upwards"));
  return Math.min(Math.max(value, 1), count.max);
}

export interface Page {
  readonly direction: (typeof directions)[number];
  readonly page: number;
  readonly perPage: number;
}

export function readPage(
  parameters: Parameters,
  limits: { readonly perPageDefault: number; readonly perPageMax: number },
  report: Report,
): Page {
  const direction = { name: "direction", values: directions, fallback: "asc" } as const;
  const page = { name: "page", fallback: 1, max: Number.MAX_SAFE_INTEGER };
  const perPage = { name: "per_page", fallback: limits.perPageDefault, max: limits.perPageMax };
  return {
    direction: readChoice(parameters, direction, report),
    page: readCount(parameters, page, report),
    perPage: readCount(parameters, perPage, report),
  };
}

function readTexts(parameters: Parameters, field: "name" | "content" | "comment"): Condition[] {
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

function readTags(parameters: Parameters): Condition[] {
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

export function readListQuery(parameters: Parameters, report: Report): ListQuery {
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
