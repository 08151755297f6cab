import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rdataOf } from "../../../test/dns/support/record-arbitrary.ts";
import { WireError } from "../wire/bytes.ts";
import type { Problem } from "./problem.ts";
import { scanLines } from "./tokens.ts";
import { recordType, recordTypes } from "./registry.ts";
import type { Rdata, RdataRequest, RecordType } from "./record-type.ts";

function accept(type: string, request: RdataRequest): Rdata {
  const problems: Problem[] = [];
  const rdata = recordType(type).accept(request, "x.example.org", (found) => problems.push(found));
  expect(problems).toEqual([]);
  return rdata!;
}

/** What a decoder makes of octets, or its own error; any other error goes on up. */
function takenOrError(definition: RecordType, bytes: Uint8Array): Rdata | WireError {
  try {
    return definition.read(bytes);
  } catch (error) {
    if (error instanceof WireError) return error;
    throw error;
  }
}

describe("every record type", () => {
  test("has an arbitrary, but for SOA, which the zone makes itself", () => {
    expect([...recordTypes.keys()].filter((type) => type !== "SOA").sort()).toEqual(
      Object.keys(rdataOf).sort(),
    );
  });

  test("has its own number", () => {
    const codes = [...recordTypes.values()].map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
  });

  for (const [type, arbitrary] of Object.entries(rdataOf)) {
    const definition = recordType(type);

    test(`${type}: content and priority are read back`, () => {
      fc.assert(
        fc.property(arbitrary, (request) => {
          const rdata = accept(type, request);
          const priority = definition.topLevelPriority ? (rdata["priority"] as number) : null;
          expect(definition.parseContent(definition.content(rdata), priority)).toEqual(rdata);
        }),
      );
    });

    test(`${type}: what was accepted is accepted again, unchanged`, () => {
      fc.assert(
        fc.property(arbitrary, (request) => {
          const rdata = accept(type, request);
          const again = {
            content: definition.content(rdata),
            data: definition.data(rdata),
            priority: rdata["priority"],
          };
          expect(accept(type, again)).toEqual(rdata);
        }),
      );
    });

    test(`${type}: presentation form is read back`, () => {
      fc.assert(
        fc.property(arbitrary, (request) => {
          const rdata = accept(type, request);
          const [line] = scanLines(definition.compose(rdata));
          const parsed = definition.parse(line!.tokens, "elsewhere.example");
          expect(accept(type, parsed!)).toEqual(rdata);
        }),
      );
    });

    test(`${type}: wire form is read back`, () => {
      fc.assert(
        fc.property(arbitrary, fc.nat(20), (request, before) => {
          const rdata = accept(type, request);
          const wire = definition.write(rdata);
          const message = new Uint8Array(before + wire.length + 3);
          message.set(wire, before);
          expect(definition.read(message, before, before + wire.length)).toEqual(rdata);
        }),
      );
    });

    test(`${type}: a decoder throws nothing but WireError`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
          // Anything else that is thrown comes through and fails the test.
          expect(takenOrError(definition, bytes)).toBeDefined();
        }),
      );
    });

    test(`${type}: a cut or lengthened wire form is refused or reads as something else`, () => {
      fc.assert(
        fc.property(arbitrary, (request) => {
          const rdata = accept(type, request);
          const wire = definition.write(rdata);
          for (const bytes of [wire.slice(0, -1), Uint8Array.of(...wire, 0)]) {
            expect(takenOrError(definition, bytes)).not.toEqual(rdata);
          }
        }),
        { numRuns: 50 },
      );
    });
  }
});
