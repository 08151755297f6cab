import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rdataOf } from "../../../test/dns/support/record-arbitrary.ts";
import { WireError } from "../wire/bytes.ts";
import type { Problem } from "./problem.ts";
import { scanLines } from "./tokens.ts";
import { recordType, recordTypes } from "./types.ts";
import type { Rdata, RdataRequest, RecordType } from "./record-type.ts";

function accept(type: string, request: RdataRequest): Rdata {
  const problems: Problem[] = [];
  const rdata = recordType(type).accept(request, "x.example.org", (found) => problems.push(found));
  expect(problems).toEqual([]);
  return rdata!;
}

/** Returns the decoded data or the WireError; throws any other error. */
function readOrWireError(definition: RecordType, bytes: Uint8Array): Rdata | WireError {
  try {
    return definition.read(bytes);
  } catch (error) {
    if (error instanceof WireError) return error;
    throw error;
  }
}

describe("every record type", () => {
  test("has an arbitrary, except SOA, which requests cannot create", () => {
    expect([...recordTypes.keys()].filter((type) => type !== "SOA").sort()).toEqual(
      Object.keys(rdataOf).sort(),
    );
  });

  test("has a unique number", () => {
    const codes = [...recordTypes.values()].map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
  });

  for (const [type, arbitrary] of Object.entries(rdataOf)) {
    const definition = recordType(type);

    test(`${type}: parseContent() reads content and priority back`, () => {
      fc.assert(
        fc.property(arbitrary, (request) => {
          const rdata = accept(type, request);
          const priority = definition.topLevelPriority ? (rdata["priority"] as number) : null;
          expect(definition.parseContent(definition.content(rdata), priority)).toEqual(rdata);
        }),
      );
    });

    test(`${type}: accept() returns accepted data unchanged`, () => {
      fc.assert(
        fc.property(arbitrary, (request) => {
          const rdata = accept(type, request);
          const repeated = {
            content: definition.content(rdata),
            data: definition.data(rdata),
            priority: rdata["priority"],
          };
          expect(accept(type, repeated)).toEqual(rdata);
        }),
      );
    });

    test(`${type}: parse() reads presentation form back`, () => {
      fc.assert(
        fc.property(arbitrary, (request) => {
          const rdata = accept(type, request);
          const [line] = scanLines(definition.compose(rdata));
          const parsed = definition.parse(line!.tokens, "elsewhere.example");
          expect(accept(type, parsed!)).toEqual(rdata);
        }),
      );
    });

    test(`${type}: read() reads the wire form back`, () => {
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

    test(`${type}: read() throws no error but WireError`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
          expect(readOrWireError(definition, bytes)).toBeDefined();
        }),
      );
    });

    test(`${type}: read() refuses a shorter or longer wire form, or returns other data`, () => {
      fc.assert(
        fc.property(arbitrary, (request) => {
          const rdata = accept(type, request);
          const wire = definition.write(rdata);
          for (const bytes of [wire.slice(0, -1), Uint8Array.of(...wire, 0)]) {
            expect(readOrWireError(definition, bytes)).not.toEqual(rdata);
          }
        }),
        { numRuns: 50 },
      );
    });
  }
});
