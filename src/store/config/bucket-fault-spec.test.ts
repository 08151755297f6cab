import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callMethods, type CallMethod } from "../core/errors.ts";
import { failEffect } from "../core/fault.ts";
import { BucketFaultError, parseBucketFault, type BucketFaultInput } from "./bucket-fault-spec.ts";

const fail = failEffect(10001);
const drop = { kind: "drop", afterBytes: null } as const;

/** `undefined` fields are left out. */
const given = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;

const inputs = fc
  .record({
    method: fc.option(
      fc.uniqueArray(fc.constantFrom(...([...callMethods] as CallMethod[])), { minLength: 1 }),
      { nil: undefined },
    ),
    bucket: fc.option(fc.stringMatching(/^[a-z0-9-]+$/), { nil: undefined }),
    key: fc.option(
      fc.oneof(
        fc.string({ minLength: 1 }),
        fc.stringMatching(/^[ab*/]+(:10001|:drop|:times=2|:slow=1s|:)*$/),
      ),
      { nil: undefined },
    ),
    nth: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
    times: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
    probability: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
    seed: fc.option(fc.nat(), { nil: undefined }),
    when: fc.option(fc.constantFrom("before", "after"), { nil: undefined }),
    effect: fc.oneof(
      fc.constantFrom(fail, failEffect(10058), failEffect(100100), drop),
      fc.nat().map((afterBytes) => ({ kind: "drop" as const, afterBytes })),
      fc
        .integer({ min: 1, max: 60_000 })
        .map((milliseconds) => ({ kind: "slow" as const, milliseconds })),
    ),
  })
  .filter(
    ({ method, effect }) =>
      !("afterBytes" in effect && effect.afterBytes !== null) ||
      method === undefined ||
      method.includes("get"),
  )
  // No text tells the two zeros apart.
  .filter(({ probability }) => !Object.is(probability, -0))
  .map(({ effect, ...target }) => ({ target: given(target), effect }));

/** The text of a fault. */
function format({ target, effect }: BucketFaultInput): string {
  const { method, bucket = "*", key, ...timing } = target;
  const options = Object.entries(timing).map(([field, value]) => `${field}=${value}`);
  const effects = {
    fail: () => "code" in effect && `${effect.code}`,
    slow: () => "milliseconds" in effect && `slow=${effect.milliseconds}ms`,
    drop: () =>
      "afterBytes" in effect && effect.afterBytes !== null ? `drop=${effect.afterBytes}` : "drop",
  };
  const place = key === undefined ? bucket : `${bucket}/${key}`;
  const parts = [method?.join(",") ?? "*", place, effects[effect.kind]()];
  return [...parts, ...(options.length === 0 ? [] : [options.join(",")])].join(":");
}

describe("parseBucketFault()", () => {
  it.each<[string, BucketFaultInput]>([
    [
      "put:photos/*:10001",
      { target: { method: ["put"], bucket: "photos", key: "*" }, effect: fail },
    ],
    ["*:*:10001", { target: {}, effect: fail }],
    [
      "put,delete:photos:drop",
      { target: { method: ["put", "delete"], bucket: "photos" }, effect: drop },
    ],
    [
      "get:*/a.bin:drop=1000",
      { target: { method: ["get"], key: "a.bin" }, effect: { kind: "drop", afterBytes: 1000 } },
    ],
    [
      "head:photos:slow=2s",
      {
        target: { method: ["head"], bucket: "photos" },
        effect: { kind: "slow", milliseconds: 2000 },
      },
    ],
    [
      "head:photos:delay=1s500ms",
      {
        target: { method: ["head"], bucket: "photos" },
        effect: { kind: "slow", milliseconds: 1500 },
      },
    ],
    [
      "put:photos/a/b:10001:nth=2,times=3,probability=0.5,seed=7,when=after",
      {
        target: {
          method: ["put"],
          bucket: "photos",
          key: "a/b",
          nth: 2,
          times: 3,
          probability: 0.5,
          seed: 7,
          when: "after",
        },
        effect: fail,
      },
    ],
    [
      "put:photos/a:10001:10001",
      { target: { method: ["put"], bucket: "photos", key: "a:10001" }, effect: fail },
    ],
    [
      "put:photos/a:times=2:drop",
      { target: { method: ["put"], bucket: "photos", key: "a:times=2" }, effect: drop },
    ],
    ["put:drop//:10001", { target: { method: ["put"], bucket: "drop", key: "/" }, effect: fail }],
  ])("reads %s", (text, input) => {
    expect(parseBucketFault(text)).toEqual(input);
  });

  it.each([
    ["put", "A fault needs a bucket after the method, or * for all buckets."],
    ["put:", "A fault needs a bucket"],
    ["put:10001", "A fault needs a bucket"],
    ["put:photos", "A fault needs an effect: the code of an error such as 10001"],
    ["put::10001", "A fault needs a bucket"],
    ["putt:photos:10001", '"putt" is no method of a bucket. Did you mean "put"?'],
    ["put,:photos:10001", '"" is no method of a bucket.'],
    ["put:photos:1001", '"1001" is no code of an error of the store. Did you mean "10001"?'],
    ["put:photos:slwo=2s", '"slwo=2s" is no effect. Did you mean "slow"?'],
    ["put:photos:explode", '"explode" is no effect. Use the code of an error'],
    ["put:photos:slow", '"slow" is "": give a length of time such as slow=2s'],
    ["put:photos:delay=-2s", '"delay" is "-2s"'],
    ["put:photos:slow=2h", "at most 60 seconds."],
    ["put:photos:drop=5", "for the body of a get, and put has none."],
    ["get:photos:drop=some", '"drop" is "some": give a number of bytes'],
    ["put:photos/:10001", '"photos/" ends in a slash'],
    ["put:ph*:10001", '"ph*" is no name of a bucket: give one name'],
    ["put:photos:10001:tmes=2", '"tmes" is no option of a fault. Did you mean "times"?'],
    ["put:photos:10001:", '"" is no option of a fault.'],
    ["put:photos:10001:times=2,times=3", '"times" is given twice.'],
    ["put:photos:10001:times=0", '"times" is "0": give a whole number from 1.'],
    ["put:photos:10001:nth=1.5", '"nth" is "1.5": give a whole number from 1.'],
    ["put:photos:10001:probability=2", '"probability" is "2": give a number from 0 to 1.'],
    ["put:photos:10001:when=later", '"when" is "later": give "before" or "after".'],
  ])("refuses %j with a sentence", (text, sentence) => {
    expect(() => parseBucketFault(text)).toThrow(BucketFaultError);
    expect(() => parseBucketFault(text)).toThrow(sentence);
  });

  it("reads the text of any fault with any key", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        expect(parseBucketFault(format(input))).toEqual(input);
      }),
    );
  });
});
