import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rdataOf, recordArbitrary } from "../../../test/dns/support/record-arbitrary.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";
import { acceptOrThrow, recordRules } from "../../../test/dns/support/accept.ts";
import { acceptRecord, recordFields } from "./accept-record.ts";
import type { Problem } from "../record/problem.ts";
import { recordType } from "../record/types.ts";

function accept(request: Readonly<Record<string, unknown>>) {
  const problems: Problem[] = [];
  const draft = acceptRecord(request, recordRules, (found) => problems.push(found));
  return { draft, problems };
}

/** A valid request with some values, at the top level or in the data, replaced by random JSON. */
const damaged = fc.constantFrom(...Object.keys(rdataOf)).chain((type) =>
  fc
    .tuple(
      recordArbitrary(type),
      fc.dictionary(fc.constantFrom(...recordFields), fc.jsonValue(), { maxKeys: 2 }),
      fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }),
      fc.nat(),
      fc.jsonValue(),
    )
    .map(([request, top, unknown, which, value]) => {
      const data = request["data"] as Record<string, unknown> | undefined;
      const fields = Object.keys(data ?? {});
      const field = fields[which % Math.max(1, fields.length)];
      const inner = field === undefined ? {} : { data: { ...data, ...unknown, [field]: value } };
      return Object.assign({ name: "x" }, request, unknown, inner, top) as typeof request;
    }),
);

test("acceptRecord() returns a draft or reports problems for any JSON, and never throws", () => {
  fc.assert(
    fc.property(damaged, (request) => {
      const { draft, problems } = accept(request);
      expect(draft !== undefined || problems.length > 0).toBe(true);
      expect(problems.every(({ code, message }) => code > 0 && message !== "")).toBe(true);
    }),
    { numRuns: propertyRuns({ few: 500, all: 5000 }) },
  );
});

test("acceptRecord() returns drafts that survive parsing, the wire format and a second request", () => {
  fc.assert(
    fc.property(damaged, (request) => {
      const { draft, problems } = accept(request);
      fc.pre(draft !== undefined && problems.length === 0);
      const type = recordType(draft.type);
      const rdata = type.parseContent(draft.content, draft.priority);
      // LOC loses precision on the wire, so that the test compares the octets.
      const wire = type.write(rdata);
      expect(type.write(type.read(wire))).toEqual(wire);
      const data = type.data(rdata) ?? undefined;
      const repeated = { ...draft, private_routing: draft.privateRouting, data };
      expect(accept(repeated)).toEqual({ draft, problems: [] });
    }),
    { numRuns: propertyRuns({ few: 200, all: 3000 }) },
  );
});

test("acceptRecord() reports all problems of a request", () => {
  const request = {
    type: "SRV",
    name: "a..b",
    ttl: 2,
    comment: 1,
    proxied: true,
    data: { port: -1, target: "x" },
  };
  expect(accept(request).problems.map(({ code }) => code)).toEqual([
    9000, 9404, 9004, 9021, 9101, 9101, 9406,
  ]);
});

describe("acceptRecord() with an SRV record of an older client", () => {
  const data = { service: "sip", proto: "_tcp", priority: 1, weight: 2, port: 3, target: "t.test" };

  test.each([
    [{ data: { ...data, name: "sub" } }, "_sip._tcp.sub.example.org"],
    [{ data: { ...data, name: "@" } }, "_sip._tcp.example.org"],
    [{ data }, "_sip._tcp.example.org"],
    [{ name: "sub", data }, "_sip._tcp.sub.example.org"],
    [{ name: "@", data }, "_sip._tcp.example.org"],
    [{ name: "example.org", data }, "_sip._tcp.example.org"],
    [{ name: "_sip._tcp.sub.example.org", data }, "_sip._tcp.sub.example.org"],
    [{ name: "ignored", data: { ...data, name: "sub" } }, "_sip._tcp.sub.example.org"],
  ])("%j", (request, name) => {
    expect(acceptOrThrow({ type: "SRV", ...request }).name).toBe(name);
  });
});

test("acceptRecord() refuses an address of the platform in every form, and no loopback address", () => {
  for (const content of ["::ffff:198.18.0.1", "::FFFF:c612:1"]) {
    const refused = () => acceptOrThrow({ type: "AAAA", name: "a", content });
    expect(refused).toThrow("an address of the platform itself");
  }
  const rules = { ...recordRules, platformAddresses: ["127.0.0.1", "::1"] };
  for (const content of ["127.0.0.1", "127.0.0.2"]) {
    const request = { type: "A", name: "a", content, proxied: true };
    expect(acceptOrThrow(request, rules).content).toBe(content);
  }
});
