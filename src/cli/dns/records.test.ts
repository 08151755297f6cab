import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyRecord } from "../../../test/dns/support/record-arbitrary.ts";
import { recordType } from "../../dns/record/types.ts";
import { splitTokens } from "../../dns/record/tokens.ts";
import { acceptRecord } from "../../dns/rules/accept-record.ts";
import { UsageError } from "../command.ts";
import { parseContent, parseType } from "./records.ts";

const zoneName = "example.org";
const parse = (type: string, ...words: string[]) => parseContent({ type, words, zoneName });

describe("parseContent()", () => {
  it.each([
    ["CNAME", ["www"], "www.example.org"],
    ["CNAME", ["@"], "example.org"],
    ["CNAME", ["www.example.net"], "www.example.net"],
    ["CNAME", ["www."], "www."],
    ["A", ["192.0.2.1"], "192.0.2.1"],
    ["TXT", ["v=spf1 -all"], "v=spf1 -all"],
    ["TXT", ['"one" "two"'], '"one" "two"'],
    ["TXT", ["one", 'say "two"', '"three"'], '"one" "say \\"two\\"" "three"'],
    ["SPF", ["v=spf1 -all"], "v=spf1 -all"],
  ])("reads the content of %s %j", (type, words, content) => {
    expect(parse(type, ...words)).toEqual({ content });
  });

  it.each([
    ["SRV", ["1", "2", "5060", "sip"], { target: "sip.example.org", port: "5060" }],
    ["SRV", ["1 2 5060 sip.example.net"], { target: "sip.example.net", weight: "2" }],
    ["CAA", ["0", "issue", "ca.example; a=1"], { tag: "issue", value: "ca.example; a=1" }],
    ["CAA", ['0 issue "ca.example; a=1"'], { tag: "issue", value: "ca.example; a=1" }],
    ["CAA", ["0", "issue", '";"'], { value: ";" }],
    ["HTTPS", ["1", ".", "alpn=h3,h2"], { target: "." }],
  ])("reads the data of %s %j", (type, words, data) => {
    const { data: parsed } = parse(type, ...words);
    expect(
      JSON.parse(JSON.stringify(parsed), (_, value: unknown) =>
        typeof value === "number" ? String(value) : value,
      ),
    ).toMatchObject(data);
  });

  it("takes the priority from the option", () => {
    const words = { type: "MX", words: ["mail"], zoneName };
    expect(parseContent({ ...words, priority: 10 })).toEqual(parse("MX", "10", "mail"));
    expect(() => parseContent({ ...words, type: "A", priority: 1 })).toThrow("for MX, SRV and URI");
  });

  it("names the fields of incomplete content", () => {
    expect(() => parse("SRV", "1", "2")).toThrow(
      'CONTENT of SRV is PRIORITY WEIGHT PORT TARGET, not "1 2".',
    );
    expect(() => parse("CAA", '0 issue "x')).toThrow(UsageError);
  });

  it("keeps white space inside a quoted parameter", () => {
    const accepted = { data: { priority: "1", target: "a.example.org", value: 'key667=" "' } };
    expect(parse("SVCB", "1", "a.example.org", 'key667=" "')).toMatchObject(accepted);
    expect(parse("SVCB", '1 a.example.org key667=" "')).toMatchObject(accepted);
  });

  it("reads the zone file form of any record, as one word and as many", () => {
    const rules = {
      zoneName,
      nameRules: "dns",
      platformAddresses: [],
      commentCharactersMax: 1000,
      tagsMax: 100,
    } as const;
    fc.assert(
      fc.property(anyRecord, (generated) => {
        const plain = { ...generated, name: "owner", comment: null, tags: [], settings: {} };
        const accepted = acceptRecord({ ...plain, proxied: false }, rules, () => {});
        if (accepted === undefined) return;
        const { type } = accepted;
        const definition = recordType(type);
        const content = definition.compose(
          definition.parseContent(accepted.content, accepted.priority),
        );
        const tokens = splitTokens(content);
        const many = tokens.map(({ text, quoted }) => (quoted ? `"${text}"` : text));
        for (const words of [[content], many]) {
          const request = { ...parseContent({ type, words, zoneName }), type, name: "owner" };
          const draft = acceptRecord({ ...request, ttl: accepted.ttl }, rules, () => {});
          expect(draft).toEqual(accepted);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("parseType()", () => {
  it("accepts types in any case, accepts SPF and DMARC, and suggests a type", () => {
    expect(parseType("aaaa")).toBe("AAAA");
    expect(parseType("dmarc")).toBe("DMARC");
    expect(() => parseType("CNMAE")).toThrow("Did you mean CNAME?");
  });
});
