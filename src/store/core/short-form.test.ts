import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Operation, Outcome } from "./operations.ts";
import { operationOf, outcomeOf, shortAnswer, shortCall, type ShortCall } from "./short-form.ts";

/** Like the objects that the binding makes. */
const plainObjects = { noNullPrototype: true };

const anyText = fc.string({ unit: "grapheme" });
const anyHex = fc.stringMatching(/^[0-9a-f]{32}$/);
const anyRead = fc.record(
  { method: fc.constantFrom("head" as const, "get" as const), key: anyText },
  plainObjects,
);
const anyPut = fc.record(
  {
    method: fc.constant("put" as const),
    key: anyText,
    content: fc.record(
      {
        bytes: fc.uint8Array({ maxLength: 64 }),
        checksums: fc.record(
          { md5: anyHex, sha256: anyHex },
          { requiredKeys: ["md5"], ...plainObjects },
        ),
      },
      plainObjects,
    ),
    http: fc.record(
      { contentType: anyText, cacheExpiry: fc.nat() },
      { requiredKeys: [], ...plainObjects },
    ),
    custom: fc.dictionary(anyText, anyText, { maxKeys: 2, ...plainObjects }),
    storageClass: fc.constantFrom("Standard" as const, "InfrequentAccess" as const),
    onlyIf: fc.record({ uploadedBefore: fc.nat(), secondsGranularity: fc.boolean() }, plainObjects),
    checksum: fc.record({ algorithm: fc.constant("sha256" as const), hex: anyHex }, plainObjects),
  },
  {
    requiredKeys: ["method", "key", "content", "http", "custom", "storageClass"],
    ...plainObjects,
  },
);

/** The outcome of a `get` of a whole object. */
function whole(bytes: ArrayBuffer): Outcome {
  const range = { offset: 0, length: bytes.byteLength };
  return { ok: true, value: { status: "found", object: "[…]", range, content: [{ bytes }] } };
}

describe("shortCall()", () => {
  it("has a short form of every plain read and put, which operationOf() reads back", () => {
    fc.assert(
      fc.property(fc.oneof(anyPut, anyRead), (operation) => {
        const call = shortCall(operation);
        expect(call).not.toBeNull();
        expect(operationOf(call as ShortCall)).toStrictEqual(operation);
      }),
    );
  });

  it("leaves out all defaults", () => {
    const content = { bytes: new Uint8Array(1), checksums: { md5: "m" } };
    const plain = { http: {}, custom: {}, storageClass: "Standard" } as const;
    expect(shortCall({ method: "put", key: "k", content, ...plain })).toStrictEqual([
      "put",
      "k",
      content.bytes,
      "m",
      undefined,
    ]);
  });

  it.each<Operation>([
    { method: "get", key: "k", range: { offset: 1, length: 1 } },
    { method: "get", key: "k", onlyIf: { secondsGranularity: false } },
    { method: "delete", keys: ["k"] },
    {
      method: "put",
      key: "k",
      content: { blob: "b", size: 1, checksums: { md5: "m" } },
      http: {},
      custom: {},
      storageClass: "Standard",
    },
  ])("has no short form of %o", (operation) => {
    expect(shortCall(operation)).toBeNull();
  });
});

describe("shortAnswer()", () => {
  it.each<[string, Outcome, unknown]>([
    ["an object", { ok: true, value: "[…]" }, "[…]"],
    ["nothing", { ok: true, value: null }, null],
    ["content", whole(new ArrayBuffer(3)), ["[…]", new ArrayBuffer(3)]],
  ])("is short for %s", (_, outcome, short) => {
    expect(shortAnswer(outcome)).toStrictEqual(short);
    expect(outcomeOf(shortAnswer(outcome))).toStrictEqual(outcome);
  });

  it.each<[string, Outcome]>([
    ["a failure", { ok: false, code: 10020, text: "No." }],
    [
      "content in a file",
      {
        ok: true,
        value: {
          status: "found",
          object: "[…]",
          range: { offset: 0, length: 9 },
          content: [{ blob: "b", blobSize: 9, offset: 0, length: 9 }],
        },
      },
    ],
    ["a condition that failed", { ok: true, value: { status: "condition failed", object: "[…]" } }],
  ])("leaves %s as it is", (_, outcome) => {
    expect(shortAnswer(outcome)).toBe(outcome);
    expect(outcomeOf(outcome)).toBe(outcome);
  });
});
