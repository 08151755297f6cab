import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../test/support/error-of.ts";
import { UserError } from "../base/user-error.ts";
import { failEffect, makeStoreFault } from "../store/core/fault.ts";
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
    ["dns:ttl:*:ttl=0", { kind: "ttl", ttl: 0 }],
    [
      "dns:answer:a.test/A:content=192.0.2.1,ttl=5,content=192.0.2.2",
      { kind: "answer", name: "a.test", type: "A", content: ["192.0.2.1", "192.0.2.2"], ttl: 5 },
    ],
    ["dns:delay:a.test:by=1m", { kind: "delay", name: "a.test", by: "1m" }],
  ])("reads %s", (text, fault) => {
    expect(parseFaultSpec(text)).toEqual({ subject: "dns", fault });
  });

  it.each([
    ["", 'A fault begins with "dns:", or with a method of buckets such as "put:".'],
    ["drop:www.example.com", '"drop" is no method of a bucket. Use head, get, put'],
    ["dns:", '"" is no kind.'],
    ["dns:servfial:a.test", '"servfial" is no kind. Did you mean "servfail"?'],
    ["dns:drop", "A fault needs a name, or * for all names."],
    ["dns:drop:a.test/AB", '"type" is "AB", which is no type of records.'],
    ["dns:drop:a.test:2s", '"by" is a field of delay and propagation_delay, not of drop.'],
    ["dns:delay:a.test", '"delay" needs "by"'],
    ["dns:delay:a.test:1s,2s", '"by" is given twice.'],
    ["dns:drop:a.test:server=foo", '"server" is "foo", which is no IP address.'],
    ["dns:wrong-id:a.test:transport=https", '"wrong_id" has an effect over udp, tcp, tls only'],
    ["dns:drop:a.test:name=b.test", '"name" is given twice.'],
    ["dns:drop:a.test:tmies=1", '"tmies" is no field of a fault. Did you mean "times"?'],
    ["dns:drop:a.test:times=x", '"times" is "x": give a whole number from 1.'],
  ])("refuses %j with a sentence", (text, sentence) => {
    expect(() => parseFaultSpec(text)).toThrow(UserError);
    expect(() => parseFaultSpec(text)).toThrow(`--fault "${text}": `);
    expect(() => parseFaultSpec(text)).toThrow(sentence);
  });

  it("reads a fault of buckets, which reports name by its text", () => {
    const text = "put:photos/*:10001:times=2";
    expect(parseFaultSpec(text)).toEqual({
      subject: "bucket",
      fault: {
        ...makeStoreFault(
          { method: ["put"], bucket: "photos", key: "*", times: 2 },
          failEffect(10001),
        ),
        text,
      },
    });
  });

  it("refuses a bucket that does not exist, and names those that do", () => {
    const bucketNames = ["photos", "logs"];
    expect(() => parseFaultSpec("put:phtos:10001", { bucketNames, name: "The fault" })).toThrow(
      'The fault "put:phtos:10001": No bucket has the name "phtos", so the fault would hit no call. ' +
        'Did you mean "photos"? Buckets: photos, logs. An example is put:photos/*:10001:times=2',
    );
    expect(parseFaultSpec("put:*:10001", { bucketNames }).subject).toBe("bucket");
    expect(parseFaultSpec("put:logs:10001", { bucketNames }).subject).toBe("bucket");
  });

  it("returns a fault or throws UserError, for any text", () => {
    const pieces = "dns put photos drop delay slow 10001 times a.test : / , = 1s *".split(" ");
    const piece = fc.constantFrom(...pieces);
    const text = fc.oneof(
      fc.string(),
      fc.array(piece).map((each) => each.join("")),
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
