import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  describeBucketFault,
  errorChoices,
  firstBucketFault,
  methodChoices,
  readBucketFault,
  writeBucketFault,
  type BucketFaultForm,
} from "./bucket-fault-form.ts";
import { always } from "./fault-timing.ts";

describe("writeBucketFault()", () => {
  it.each<[Partial<BucketFaultForm>, string]>([
    [{}, "put:*:10001"],
    [{ bucket: "photos", key: "*" }, "put:photos/*:10001"],
    [{ methods: "*", effect: "slow", by: "200ms" }, "*:*:slow=200ms"],
    [{ methods: "get", effect: "drop" }, "get:*:drop"],
    [
      { effect: "drop", isAfter: true, timing: { kind: "nth", value: "2" } },
      "put:*:drop:nth=2,when=after",
    ],
  ])("writes %j as %s", (fields, text) => {
    expect(writeBucketFault({ ...firstBucketFault, ...fields })).toBe(text);
  });
});

it("errorChoices has each error once, by its code", () => {
  const codes = errorChoices.map(({ value }) => Number(value));
  expect(codes).toEqual([...new Set(codes)].toSorted((one, other) => one - other));
  expect(codes).toContain(10058);
});

describe("readBucketFault()", () => {
  it("reads back what writeBucketFault() writes, for any key", () => {
    const forms: fc.Arbitrary<BucketFaultForm> = fc.record({
      methods: fc.constantFrom(...methodChoices.map(({ value }) => value)),
      bucket: fc.constantFrom("*", "photos"),
      key: fc.oneof(fc.string(), fc.constantFrom("a:10001", "a:times=2", "a:drop", "//", ":")),
      effect: fc.constantFrom("fail", "slow", "drop"),
      code: fc.constantFrom(...errorChoices.map(({ value }) => value)),
      by: fc.constantFrom("2s", "150ms"),
      timing: fc.constantFrom(always, { kind: "times", value: "2" } as const),
      isAfter: fc.boolean(),
    });
    fc.assert(
      fc.property(forms, (form) => {
        const text = writeBucketFault(form);
        const { methods, bucket, key, effect, timing, isAfter } = form;
        const read = readBucketFault(text)!;
        expect(read).toMatchObject({ methods, bucket, key, effect, timing, isAfter });
        expect(writeBucketFault(read)).toBe(text);
      }),
    );
  });

  it.each([
    "",
    "put",
    "put:photos",
    "putt:photos:10001",
    "put::10001",
    "get:photos:drop=1000",
    "put:photos:explode",
    "put:photos:10001:seed=7",
    "put:photos:10001:times=2,nth=2",
    "dns:servfail:*",
  ])("is null for %j, which the form does not show", (text) => {
    expect(readBucketFault(text)).toBeNull();
  });
});

describe("describeBucketFault()", () => {
  it.each([
    ["put:photos/*:10001", "error 10001 InternalError for every call"],
    ["get:*:slow=2s:times=1", "2s longer for the first call"],
    [
      "put:*:drop:probability=0.5,when=after",
      "a lost connection for 50% of the calls, after the bucket has executed the call",
    ],
  ])("says what %s does", (text, words) => {
    expect(describeBucketFault(readBucketFault(text)!)).toBe(words);
  });
});
