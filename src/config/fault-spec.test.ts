import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../test/support/error-of.ts";
import { UserError } from "../base/user-error.ts";
import { parseFaultSpec } from "./fault-spec.ts";

describe("parseFaultSpec()", () => {
  it.each([
    ["dns:drop:www.example.com", { kind: "drop", name: "www.example.com" }],
    ["dns:drop:*", { kind: "drop" }],
    [
      "dns:servfail:www.example.com/A:times=2",
      { kind: "servfail", name: "www.example.com", type: "A", times: 2 },
    ],
    ["dns:delay:*.example.com:2s", { kind: "delay", name: "*.example.com", by: "2s" }],
    [
      "dns:propagation-delay:example.com:30s,server=::1",
      { kind: "propagation_delay", zone: "example.com", by: "30s", server: "::1" },
    ],
    ["dns:lame:example.com/NS", { kind: "lame", zone: "example.com", type: "NS" }],
    [
      "dns:lost-notify:*:probability=0.5,seed=7",
      { kind: "lost_notify", probability: 0.5, seed: 7 },
    ],
    ["dns:delay:a.test:by=1m", { kind: "delay", name: "a.test", by: "1m" }],
  ])("reads %s", (text, fault) => {
    expect(parseFaultSpec(text)).toEqual({ subject: "dns", fault });
  });

  it.each([
    ["", 'A fault begins with "dns:".'],
    ["drop:www.example.com", 'A fault begins with "dns:".'],
    ["dns:", '"" is no kind.'],
    ["dns:servfial:a.test", '"servfial" is no kind. Did you mean "servfail"?'],
    ["dns:drop", "A fault needs a name, or * for all names."],
    ["dns:drop:a.test/AB", '"type" is "AB", which is no type of records.'],
    ["dns:drop:a.test:2s", '"by" is a field of delay and propagation_delay, not of drop.'],
    ["dns:delay:a.test", '"delay" needs "by"'],
    ["dns:delay:a.test:1s,2s", '"by" is given twice.'],
    ["dns:drop:a.test:name=b.test", '"name" is given twice.'],
    ["dns:drop:a.test:tmies=1", '"tmies" is no field of a fault. Did you mean "times"?'],
    ["dns:drop:a.test:times=x", '"times" is "x": give a whole number from 1.'],
  ])("refuses %j with a sentence", (text, sentence) => {
    expect(() => parseFaultSpec(text)).toThrow(UserError);
    expect(() => parseFaultSpec(text)).toThrow(`--fault "${text}": `);
    expect(() => parseFaultSpec(text)).toThrow(sentence);
  });

  it("returns a fault or throws UserError, for any text", () => {
    const piece = fc.constantFrom("dns", "drop", "delay", "a.test", ":", "/", ",", "=", "1s", "*");
    const text = fc.oneof(
      fc.string(),
      fc.array(piece).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(text, (spec) => {
        expect(errorOf(() => parseFaultSpec(spec))).toSatisfy(
          (error) => error === null || error instanceof UserError,
        );
      }),
    );
  });
});
