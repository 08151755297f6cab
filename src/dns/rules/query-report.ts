/** Reports of `dns_analytics`: the queries of a zone, grouped by the dimensions that a client names. */
import { problem, type ReportProblem } from "../record/problem.ts";
import { isInZone } from "../record/record-name.ts";

export interface QueryCount {
  /** In lower case, without the final dot. */
  readonly name: string;
  readonly type: string;
  readonly rcode: string;
  readonly count: number;
}

const dimensions = {
  queryName: ({ name }: QueryCount) => name,
  queryType: ({ type }: QueryCount) => type,
  responseCode: ({ rcode }: QueryCount) => rcode,
};
type Dimension = keyof typeof dimensions;
const dimensionNames = Object.keys(dimensions) as Dimension[];
const metric = "queryCount";
const rowsMaxDefault = 10_000;

type Filter = (query: QueryCount) => boolean;

export interface ReportRequest {
  readonly dimensions: readonly Dimension[];
  readonly filter: Filter;
  readonly limit: number;
}

/** `==` and `!=`; `;` is and, `,` is or. Returns `null` for another form. */
function parseFilter(text: string): Filter | null {
  const parts = text.split(";").map((part) => part.split(",").map(parseComparison));
  if (parts.flat().includes(null)) return null;
  return (query) => parts.every((part) => part.some((isMet) => isMet!(query)));
}

function parseComparison(text: string): Filter | null {
  const [, name, operator, value = ""] = /^(\w+)(==|!=)(.*)$/.exec(text.trim()) ?? [];
  if (!isDimension(name)) return null;
  const isEqual: Filter = (query) => dimensions[name](query).toLowerCase() === value.toLowerCase();
  return operator === "==" ? isEqual : (query) => !isEqual(query);
}

function isDimension(word: string | undefined): word is Dimension {
  return dimensionNames.some((name) => name === word);
}

export function readReportRequest(
  parameters: ReadonlyMap<string, string>,
  report: ReportProblem,
): ReportRequest {
  const words = (parameters.get("dimensions") ?? "").split(",").filter((word) => word !== "");
  if (!words.every(isDimension)) report(problem.notOneOf("dimensions", dimensionNames));
  const metrics = (parameters.get("metrics") ?? metric).split(",");
  if (metrics.some((word) => word !== metric)) report(problem.notOneOf("metrics", [metric]));
  const filters = parameters.get("filters");
  const filter = filters === undefined || filters === "" ? () => true : parseFilter(filters);
  if (filter === null) report(problem.valueInvalid("filters", "comparisons with == and !="));
  const limit = Number(parameters.get("limit") ?? rowsMaxDefault);
  if (!Number.isInteger(limit) || limit < 1) {
    report(problem.integerRange("limit", 1, rowsMaxDefault));
  }
  return { dimensions: words.filter(isDimension), filter: filter ?? (() => true), limit };
}

const hourMilliseconds = 3_600_000;
/** The deployed service reports the last six hours by default. */
const intervalDefault = 6 * hourMilliseconds;
/** ECMA-262, section 21.4.1.1: a date has no earlier time. */
const firstDateMilliseconds = -8.64e15;

/** Returns `since` and `until`. */
export function readInterval(
  parameters: ReadonlyMap<string, string>,
  now: number,
  report: ReportProblem,
): readonly [since: string, until: string] {
  const read = (name: string, byDefault: number): number => {
    const given = parameters.get(name);
    const time = given === undefined ? byDefault : Date.parse(given);
    if (Number.isNaN(time)) report(problem.valueInvalid(name, "a time: 2026-01-31T12:00:00Z"));
    return Number.isNaN(time) ? byDefault : time;
  };
  const until = read("until", now);
  const since = read("since", Math.max(until - intervalDefault, firstDateMilliseconds));
  return [new Date(since).toISOString(), new Date(until).toISOString()];
}

export type QueryReport = ReturnType<typeof makeReport>;

/** Deviation: counts have no times, so that the whole report is in the interval of the request. */
export function inOneInterval(
  report: QueryReport,
  interval: readonly [since: string, until: string],
): Record<string, unknown> {
  const [since, until] = interval;
  return {
    ...report,
    data: report.data.map(({ dimensions: values, metrics }) => ({
      dimensions: values,
      metrics: metrics.map((count) => [count]),
    })),
    time_intervals: [interval],
    query: { ...report.query, since, until },
  };
}

/** The largest groups first. Deviation: the report covers the time since DNS was started. */
export function makeReport(
  counts: readonly QueryCount[],
  zoneName: string,
  { dimensions: names, filter, limit }: ReportRequest,
) {
  const groups = new Map<string, { readonly dimensions: readonly string[]; count: number }>();
  let total = 0;
  for (const query of counts) {
    if (!isInZone(query.name, zoneName) || !filter(query)) continue;
    const values = names.map((name) => dimensions[name](query));
    const key = JSON.stringify(values);
    const group = groups.get(key) ?? { dimensions: values, count: 0 };
    group.count += query.count;
    total += query.count;
    groups.set(key, group);
  }
  const rows = [...groups.values()]
    .sort((one, other) => other.count - one.count)
    .slice(0, limit)
    .map((group) => ({ dimensions: group.dimensions, metrics: [group.count] }));
  return {
    rows: rows.length,
    data: rows,
    data_lag: 0,
    max: {},
    min: {},
    totals: { [metric]: total },
    query: { dimensions: names, metrics: [metric], limit },
  };
}
