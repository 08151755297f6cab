/** The query parameters of the lists of records and zones, and `result_info` in the response. */
import { problem, type ReportProblem } from "../record/problem.ts";
import { toAsciiName, withoutFinalDot } from "../record/record-name.ts";
import type { Account } from "./zone.ts";

const directions = ["asc", "desc"] as const;

export type QueryParameters = ReadonlyMap<string, string>;

export interface Page {
  readonly direction: (typeof directions)[number];
  readonly page: number;
  readonly perPage: number;
}

interface Source {
  readonly parameters: QueryParameters;
  readonly report: ReportProblem;
}

function readChoice<const Values extends readonly string[]>(
  { parameters, report }: Source,
  name: string,
  values: Values,
  fallback: Values[number],
): Values[number] {
  const given = parameters.get(name);
  if (given === undefined || given === "") return fallback;
  const found = values.find((value) => value === given.toLowerCase());
  if (found === undefined) report(problem.notOneOf(name, values));
  return found ?? fallback;
}

function readCount(
  { parameters, report }: Source,
  name: string,
  limits: { readonly default: number; readonly max: number },
): number {
  const given = parameters.get(name);
  if (given === undefined || given === "") return limits.default;
  const value = /^\d{1,15}$/.test(given) ? Number(given) : 0;
  if (value < 1) report(problem.valueInvalid(name, "a whole number from 1 upwards"));
  return Math.min(Math.max(value, 1), limits.max);
}

export function readPage(
  parameters: QueryParameters,
  perPage: { readonly default: number; readonly max: number },
  report: ReportProblem,
): Page {
  const source = { parameters, report };
  return {
    direction: readChoice(source, "direction", directions, "asc"),
    page: readCount(source, "page", { default: 1, max: Number.MAX_SAFE_INTEGER }),
    perPage: readCount(source, "per_page", perPage),
  };
}

export type ResultInfo = ReturnType<typeof describePage>;

/** An empty list has one page. */
export function describePage(
  { page, perPage }: Pick<Page, "page" | "perPage">,
  count: number,
  totalCount: number,
) {
  return {
    page,
    per_page: perPage,
    count,
    total_count: totalCount,
    total_pages: Math.max(1, Math.ceil(totalCount / perPage)),
  };
}

/** Deviation: larger pages are reduced to `max`, which fits in a call between two isolates. */
const recordsPerPage = { default: 100, max: 20_000 };

const textOperators = ["exact", "contains", "startswith", "endswith"] as const;
const recordOrders = ["type", "name", "content", "ttl", "proxied"] as const;
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
  readonly order: (typeof recordOrders)[number];
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
      const value = field === "name" ? withoutFinalDot(toAsciiName(given)) : given.toLowerCase();
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
  const source = { parameters, report };
  const conditions = readTexts(parameters);
  for (const present of [true, false]) {
    if (parameters.has(present ? "comment.present" : "comment.absent")) {
      conditions.push({ kind: "comment", present });
    }
  }
  const type = parameters.get("type");
  if (type) conditions.push({ kind: "type", type: type.toUpperCase() });
  if (parameters.has("proxied")) {
    const proxied = readChoice(source, "proxied", ["true", "false"], "false") === "true";
    conditions.push({ kind: "proxied", proxied });
  }
  return {
    conditions,
    tagConditions: readTags(parameters),
    match: readChoice(source, "match", matches, "all"),
    tagMatch: readChoice(source, "tag_match", matches, "all"),
    search: parameters.get("search")?.toLowerCase() || null,
    order: readChoice(source, "order", recordOrders, "type"),
    ...readPage(parameters, recordsPerPage, report),
  };
}

/** Deviation: the deployed service allows at most 50. */
const zonesPerPage = { default: 20, max: 1000 };

const zoneOrders = ["name", "status", "account.id", "account.name", "plan.id"] as const;
const nameOperators = ["equal", "not_equal", "starts_with", "ends_with", "contains"] as const;

export interface ZoneQuery extends Page {
  readonly name: {
    readonly operator: (typeof nameOperators)[number];
    readonly value: string;
  } | null;
  /** Filters that match all zones or none. */
  readonly others: readonly boolean[];
  readonly types: readonly string[];
  /** The zone ids or names that a token is limited to. */
  readonly only: readonly string[] | null;
  readonly match: Match;
}

function readName(given: string): ZoneQuery["name"] {
  const colon = given.indexOf(":");
  const word = given.slice(0, Math.max(0, colon)).replace(/_case_sensitive$/, "");
  const operator = nameOperators.find((known) => known === word);
  const value = toAsciiName(operator === undefined ? given : given.slice(colon + 1));
  return { operator: operator ?? "equal", value: withoutFinalDot(value) };
}

export function readZoneQuery(
  parameters: QueryParameters,
  account: Pick<Account, "id" | "name">,
  report: ReportProblem,
): ZoneQuery {
  const source = { parameters, report };
  const name = parameters.get("name");
  const others: boolean[] = [];
  const status = parameters.get("status");
  if (status) others.push(status === "active");
  const accountId = parameters.get("account.id");
  if (accountId) others.push(accountId === account.id);
  const accountName = parameters.get("account.name");
  if (accountName) others.push(accountName.replace(/^[a-z_]+:/, "") === account.name);
  readChoice(source, "order", zoneOrders, "name");
  const types = parameters.get("type")?.split(",") ?? [];
  if (types.some((type) => type === "")) report(problem.valueInvalid("type", "a list of types"));
  return {
    name: name ? readName(name) : null,
    others,
    types,
    only: null,
    match: readChoice(source, "match", matches, "all"),
    ...readPage(parameters, zonesPerPage, report),
  };
}
