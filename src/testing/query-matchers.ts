/** Matchers for the log of DNS queries: `expect(await dns.queries()).toHaveQueried("www.example.org")`. */
import { matchesPattern, toPlainPattern, type TextPattern } from "../base/text-pattern.ts";

/** A query that a server of the zones has received. */
export interface DnsQuery {
  /** In lower case, without the final dot */
  readonly name: string;
  readonly type: string;
  /** `"notify"`: a NOTIFY message that a fault has lost */
  readonly transport: "udp" | "tcp" | "https" | "notify";
  /** The address that was asked; `null` over HTTPS */
  readonly server: string | null;
  /** `"NOERROR"`, `"NXDOMAIN"`, …; `null` without an answer */
  readonly rcode: string | null;
  readonly truncated: boolean;
  /** The kind of the fault that hit the query */
  readonly fault: string | null;
  /** When the answer was ready, as ISO 8601 */
  readonly time: string;
}

/** Further conditions on a query. */
export interface QueryDetails extends Partial<Omit<DnsQuery, "name" | "time">> {
  /** The exact number of matching queries; without it, one or more */
  times?: number;
}

export interface QueryMatchers {
  /** A query for a name: text in which `*` is any characters, or a regular expression. */
  toHaveQueried(name?: TextPattern, details?: QueryDetails): void;
}

function toHaveQueried(
  queries: Iterable<DnsQuery>,
  name?: TextPattern,
  { times, ...fields }: QueryDetails = {},
): { readonly pass: boolean; readonly message: () => string } {
  const all = [...queries];
  const pattern = name === undefined ? null : toPlainPattern(inLowerCase(name));
  const found = all.filter(
    (query) =>
      (pattern === null || matchesPattern(pattern, query.name)) &&
      Object.entries(fields).every(([field, value]) => query[field as keyof DnsQuery] === value),
  );
  const pass = times === undefined ? found.length > 0 : found.length === times;
  const expected = [
    "query",
    ...(name === undefined ? [] : [`for ${String(name)}`]),
    ...(Object.keys(fields).length === 0 ? [] : [`with ${JSON.stringify(fields)}`]),
    ...(times === undefined ? [] : [`${times} times`]),
  ].join(" ");
  return {
    pass,
    message: () =>
      `expect(queries).${pass ? "not." : ""}toHaveQueried(): expected ${pass ? "no" : "a"} ` +
      `${expected}, found ${found.length}. Queries:\n${listQueries(all)}`,
  };
}

/** The names of the log are in lower case. */
function inLowerCase(name: TextPattern): TextPattern {
  return typeof name === "string" ? name.toLowerCase().replace(/(?<=.)\.$/, "") : name;
}

function listQueries(queries: readonly DnsQuery[]): string {
  if (queries.length === 0) return "  none";
  return queries
    .map(({ name, type, transport, rcode, fault }) => {
      const cause = fault === null ? "" : ` (fault: ${fault})`;
      return `  ${name} ${type} over ${transport}: ${rcode ?? "no answer"}${cause}`;
    })
    .join("\n");
}

/** For `expect.extend()`. */
export const queryMatchers = { toHaveQueried };
