import { describe, expect, it } from "vitest";
import { queryMatchers, type DnsQuery } from "./query-matchers.ts";

const query = (fields: Partial<DnsQuery>): DnsQuery => ({
  name: "www.example.org",
  type: "A",
  transport: "udp",
  server: "127.0.0.1",
  rcode: "NOERROR",
  truncated: false,
  fault: null,
  time: "2030-01-01T00:00:00.000Z",
  ...fields,
});
const queries = [query({}), query({ type: "AAAA", rcode: null, fault: "drop" })];
const { toHaveQueried } = queryMatchers;

describe("toHaveQueried()", () => {
  it("finds queries by name and details", () => {
    expect(toHaveQueried(queries).pass).toBe(true);
    expect(toHaveQueried(queries, "WWW.example.org.", { type: "A", times: 1 }).pass).toBe(true);
    expect(toHaveQueried(queries, "*.example.org", { times: 2 }).pass).toBe(true);
    expect(toHaveQueried(queries, /^www/, { fault: "drop" }).pass).toBe(true);
    expect(toHaveQueried(queries, "example.org").pass).toBe(false);
    expect(toHaveQueried(queries, undefined, { rcode: "SERVFAIL" }).pass).toBe(false);
    expect(toHaveQueried(queries, undefined, { times: 1 }).pass).toBe(false);
  });

  it("prints the expected query and the queries that arrived", () => {
    expect(toHaveQueried(queries, "ns1.example.org", { type: "A" }).message()).toBe(
      'expect(queries).toHaveQueried(): expected a query for ns1.example.org with {"type":"A"}, ' +
        "found 0. Queries:\n" +
        "  www.example.org A over udp: NOERROR\n" +
        "  www.example.org AAAA over udp: no answer (fault: drop)",
    );
    expect(toHaveQueried([]).message()).toContain("Queries:\n  none");
    expect(toHaveQueried(queries).message()).toContain("expected no query, found 2.");
  });
});
