import type { QueryCount } from "../../src/dns/rules/query-report.ts";

/** The numbers of queries that this isolate has answered; DNS over HTTPS sets `count`. */
export const isolateQueries: { count: () => readonly QueryCount[] } = { count: () => [] };
