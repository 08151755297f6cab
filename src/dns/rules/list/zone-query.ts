/** The query parameters of the zone list: filters and page. */
import { problem, type ReportProblem } from "../../record/problem.ts";
import { toAsciiName } from "../../record/record-name.ts";
import type { Account } from "../account.ts";
import { readChoice, readPage, type Page, type QueryParameters } from "./page.ts";
import { matches, type Match } from "./record-query.ts";

/** Deviation: the deployed service allows at most 50. */
const zonesPerPage = { default: 20, max: 1000 };

const orders = ["name", "status", "account.id", "account.name", "plan.id"] as const;
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
  return { operator: operator ?? "equal", value: value.replace(/(?<=.)\.$/, "") };
}

export function readZoneQuery(
  parameters: QueryParameters,
  account: Pick<Account, "id" | "name">,
  report: ReportProblem,
): ZoneQuery {
  const name = parameters.get("name");
  const others: boolean[] = [];
  const status = parameters.get("status");
  if (status) others.push(status === "active");
  const accountId = parameters.get("account.id");
  if (accountId) others.push(accountId === account.id);
  const accountName = parameters.get("account.name");
  if (accountName) others.push(accountName.replace(/^[a-z_]+:/, "") === account.name);
  readChoice(parameters, { name: "order", values: orders, fallback: "name" }, report);
  const types = parameters.get("type")?.split(",") ?? [];
  if (types.some((type) => type === "")) report(problem.valueInvalid("type", "a list of types"));
  return {
    name: name ? readName(name) : null,
    others,
    types,
    only: null,
    match: readChoice(parameters, { name: "match", values: matches, fallback: "all" }, report),
    ...readPage(parameters, zonesPerPage, report),
  };
}
