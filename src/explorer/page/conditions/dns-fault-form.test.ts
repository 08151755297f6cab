import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  describeDnsFault,
  dnsFaultKinds,
  firstDnsFault,
  readDnsFault,
  writeDnsFault,
  type DnsFaultForm,
} from "./dns-fault-form.ts";
import { always } from "./fault-timing.ts";

describe("writeDnsFault()", () => {
  it.each<[Partial<DnsFaultForm>, string]>([
    [{}, "dns:servfail:*"],
    [{ name: "www.example.com", type: "A" }, "dns:servfail:www.example.com/A"],
    [{ kind: "delay", by: "2s", timing: { kind: "times", value: "2" } }, "dns:delay:*:2s,times=2"],
    [{ kind: "lost-notify", name: "example.com", type: "A" }, "dns:lost-notify:example.com"],
  ])("writes %j as %s", (fields, text) => {
    expect(writeDnsFault({ ...firstDnsFault, ...fields })).toBe(text);
  });
});

describe("readDnsFault()", () => {
  it("reads back what writeDnsFault() writes", () => {
    const forms: fc.Arbitrary<DnsFaultForm> = fc.record({
      kind: fc.constantFrom(...Object.keys(dnsFaultKinds)),
      name: fc.constantFrom("*", "www.example.com", "*.example.com"),
      type: fc.constantFrom("", "A", "TYPE65280"),
      by: fc.constantFrom("2s", "150ms"),
      timing: fc.constantFrom(always, { kind: "probability", value: "0.5" } as const),
    });
    fc.assert(
      fc.property(forms, (form) => {
        const text = writeDnsFault(form);
        const read = readDnsFault(text)!;
        expect(read).toMatchObject({ kind: form.kind, name: form.name, timing: form.timing });
        expect(writeDnsFault(read)).toBe(text);
      }),
    );
  });

  it("takes a time with and without its field", () => {
    expect(readDnsFault("dns:delay:*:by=1m")).toEqual(readDnsFault("dns:delay:*:1m"));
  });

  it.each([
    "",
    "dns:",
    "dns:servfial:*",
    "dns:drop",
    "dns:drop:*:2s",
    "dns:delay:*",
    "dns:drop:*:server=::1",
    "put:*:10001",
  ])("is null for %j, which the form does not show", (text) => {
    expect(readDnsFault(text)).toBeNull();
  });
});

describe("describeDnsFault()", () => {
  it.each([
    ["dns:servfail:*", "the name server answers SERVFAIL, for every query"],
    [
      "dns:delay:*/A:2s,times=2",
      "the name server answers later by 2s, for the first 2 queries of type A",
    ],
  ])("says what %s does", (text, words) => {
    expect(describeDnsFault(readDnsFault(text)!)).toBe(words);
  });
});
