import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordType } from "../../dns/record/types.ts";
import { parseZoneFile } from "../../dns/zone-file/parse.ts";
import { partsOf, placeProblem, planFile, planTransfer } from "./import.ts";

const zoneName = "example.org";
const file = (text: string) => planFile(text, { zoneName, proxied: false });

function wire(name: string, type: string, ttlSeconds: number, content: string) {
  const definition = recordType(type);
  const rdata = definition.parseContent(content, 10);
  return { name, type: definition.code, class: 1, ttlSeconds, data: definition.write(rdata) };
}

describe("planFile()", () => {
  it("records the line of every record, and puts proxied records last", () => {
    const { records } = file(
      "\na CNAME b ; cf_tags=cf-proxied:true\n$GENERATE 1-2 h$ A 192.0.2.$\n",
    );
    expect(records.map(({ draft, place }) => `${place}: ${draft.name}`)).toEqual([
      "Line 3: h1.example.org",
      "Line 3: h2.example.org",
      "Line 2: a.example.org",
    ]);
  });

  it("reports all problems, up to 100", () => {
    expect(() => file("a A x\nb A 192.0.2.1\nc AAAA y\n")).toThrow(
      /^Line 1: .*\(9005\)\nLine 3: .*\(9005\)$/,
    );
    expect(() => file("$GENERATE 1-150 h$ A x")).toThrow("… and 50 more.");
  });
});

describe("planTransfer()", () => {
  it("leaves out NS of the zone itself, and no other NS", () => {
    const plan = planTransfer(
      [
        wire("Example.ORG", "NS", 300, "ns.example.net"),
        wire("child.example.org", "NS", 300, "ns.example.net"),
      ],
      zoneName,
    );
    expect(plan.leftOut).toEqual([
      { name: "Example.ORG", type: "NS", content: "ns.example.net.", reason: "zone" },
    ]);
    expect(plan.records).toMatchObject([{ draft: { name: "child.example.org", type: "NS" } }]);
  });

  it("clamps TTLs to the range of the API, and keeps the priority", () => {
    const ttls = [0, 1, 59, 60, 300, 86_400, 86_401, 2 ** 31 - 1];
    const plan = planTransfer(
      ttls.map((ttl, index) => wire(`m${index}.example.org`, "MX", ttl, "mail.example.org")),
      zoneName,
    );
    expect(plan.records.map(({ draft }) => draft.ttl)).toEqual([
      60, 60, 60, 60, 300, 86_400, 86_400, 86_400,
    ]);
    expect(plan.movedTtls.map(({ ttl }) => ttl)).toEqual([0, 1, 59, 86_401, 2 ** 31 - 1]);
    expect(plan.records.every(({ draft }) => draft.priority === 10)).toBe(true);
  });

  it("names the invalid record", () => {
    expect(() => planTransfer([wire("www.example.net", "A", 60, "192.0.2.1")], zoneName)).toThrow(
      "www.example.net A: DNS name is invalid. (9000)",
    );
  });
});

describe("partsOf()", () => {
  it("yields every record once, in order, within the limit, one on each line", () => {
    const { records } = file("$GENERATE 1-200 h$ 300 A 192.0.2.1\nt TXT a b c\n");
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 4000 }), (bytesMax) => {
        const parts = [...partsOf(records, bytesMax)];
        const read = parts.flatMap(({ text, places }) => {
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytesMax);
          const parsed = parseZoneFile(text, { zoneName, proxied: false, recordsMax: 1000 });
          expect(parsed.map(({ line }) => line)).toEqual(places.map((_, index) => index + 1));
          return parsed.map(({ request }) => request["name"]);
        });
        expect(read).toEqual(records.map(({ draft }) => `${draft.name}.`));
      }),
    );
  });

  it("yields nothing without records", () => {
    expect([...partsOf([], 1)]).toEqual([]);
  });
});

describe("placeProblem()", () => {
  const part = { text: "", places: ["Line 900", "www.example.org A"] };

  it.each([
    ["Line 1: no", "Line 900: no"],
    ["Line 2: no", "www.example.org A: no"],
    ["Line 3: no", "Line 3: no"],
    ["no Line 1: no", "no Line 1: no"],
  ])("%j → %j", (message, placed) => expect(placeProblem(message, part)).toBe(placed));
});
