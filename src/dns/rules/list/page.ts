/** The pages of a list: the query parameters of a page, and `result_info` in the response. */
import { problem, type ReportProblem } from "../../record/problem.ts";

const directions = ["asc", "desc"] as const;

export type QueryParameters = ReadonlyMap<string, string>;

export interface Page {
  readonly direction: (typeof directions)[number];
  readonly page: number;
  readonly perPage: number;
}

export function readChoice<const Values extends readonly string[]>(
  parameters: QueryParameters,
  choice: { readonly name: string; readonly values: Values; readonly fallback: Values[number] },
  report: ReportProblem,
): Values[number] {
  const given = parameters.get(choice.name);
  if (given === undefined || given === "") return choice.fallback;
  const found = choice.values.find((value) => value === given.toLowerCase());
  if (found === undefined) report(problem.notOneOf(choice.name, choice.values));
  return found ?? choice.fallback;
}

function readCount(
  parameters: QueryParameters,
  count: { readonly name: string; readonly default: number; readonly max: number },
  report: ReportProblem,
): number {
  const given = parameters.get(count.name);
  if (given === undefined || given === "") return count.default;
  const value = /^\d{1,15}$/.test(given) ? Number(given) : 0;
  if (value < 1) report(problem.valueInvalid(count.name, "a whole number from 1 upwards"));
  return Math.min(Math.max(value, 1), count.max);
}

export function readPage(
  parameters: QueryParameters,
  perPage: { readonly default: number; readonly max: number },
  report: ReportProblem,
): Page {
  const direction = { name: "direction", values: directions, fallback: "asc" } as const;
  const page = { name: "page", default: 1, max: Number.MAX_SAFE_INTEGER };
  return {
    direction: readChoice(parameters, direction, report),
    page: readCount(parameters, page, report),
    perPage: readCount(parameters, { name: "per_page", ...perPage }, report),
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
