import * as fc from "fast-check";
import { expect, it, describe } from "vitest";
import type { DescribedObject, Operation, Outcome } from "./operations.ts";
import {
  decodeObject,
  decodeObjects,
  encodeFields,
  encodeMetadata,
  joinEncoded,
  allChecksums,
  operationOf,
  outcomeOf,
  shortAnswer,
  shortCall,
  type ShortCall,
} from "./object.ts";

const plain: DescribedObject = {
  key: "k",
  version: "v1",
  size: 5,
  etag: "e",
  uploaded: 1000,
  checksums: { md5: "e" },
  storageClass: "Standard",
  http: {},
  custom: {},
};
const nothing = { http: false, custom: false };

const encode = (record: DescribedObject) => {
  const fields = encodeFields({ ...record, checksums: allChecksums(record) });
  return joinEncoded(fields, encodeMetadata(record.http, record.custom));
};

const encodeRow = (record: DescribedObject, metadata: unknown = null) =>
  `[${JSON.stringify(record.key)},${encodeFields(record)},${JSON.stringify(metadata)}]`;

it('encodeFields() leaves out the class "Standard" and an MD5 that is the entity tag', () => {
  expect(encodeFields(plain)).toBe('["v1",5,"e",1000]');
});

it("encodeMetadata() is null without metadata", () => {
  expect(encodeMetadata({}, {})).toBeNull();
});

it.each([
  ["the usual fields", plain],
  ["another class", { ...plain, storageClass: "InfrequentAccess" as const }],
  ["another hash", { ...plain, checksums: { md5: "e", sha1: "s" } }],
  ["no hash", { ...plain, etag: "e-2", checksums: {} }],
  ["an md5 that is not the etag", { ...plain, etag: "e-2" }],
  ["a CRC", { ...plain, checksums: { md5: "e" }, s3Checksums: { crc32: "c" } }],
  ["a composite hash", { ...plain, etag: "e-2", checksums: {}, s3Checksums: { sha256: "s-2" } }],
  ["a key of a customer", { ...plain, s3Checksums: {}, ssecKeyMd5: "k" }],
  ["a key and a CRC", { ...plain, s3Checksums: { crc32: "c" }, ssecKeyMd5: "k" }],
  ["HTTP metadata", { ...plain, http: { contentType: "a/b", cacheExpiry: 0 } }],
  ["custom metadata", { ...plain, custom: { ["__proto__"]: "x", "\0": '"\n' } }],
])("decodeObject() reads back an object with %s", (_, record) => {
  expect(decodeObject(record.key, encode(record))).toStrictEqual(record);
});

it("decodeObject() reverses the encoding of every object", () => {
  const text = fc.string({ unit: "binary", maxLength: 5 });
  const hex = fc.string({ unit: fc.constantFrom("0", "a"), maxLength: 5 });
  const record = fc.record({
    key: text,
    version: text,
    size: fc.nat(),
    etag: text,
    uploaded: fc.nat(),
    checksums: fc.record({ md5: hex, sha256: hex }, { requiredKeys: [] }),
    storageClass: fc.constantFrom("Standard" as const, "InfrequentAccess" as const),
    http: fc.record({ contentType: text, cacheExpiry: fc.nat() }, { requiredKeys: [] }),
    custom: fc.dictionary(text, text, { noNullPrototype: true, maxKeys: 3 }),
  });
  fc.assert(
    fc.property(record, (given) => {
      expect(decodeObject(given.key, encode(given))).toEqual(given);
    }),
  );
});

const { http: _http, custom: _custom, ...bare } = plain;
const metadata = [{ contentType: "a/b" }, { a: "b" }];

it.each([
  ["neither kind of metadata", nothing, null, {}],
  ["HTTP metadata only", { http: true, custom: false }, [metadata[0]], { http: metadata[0] }],
  [
    "custom metadata only",
    { http: false, custom: true },
    [null, metadata[1]],
    { custom: metadata[1] },
  ],
  ["both", { http: true, custom: true }, metadata, { http: metadata[0], custom: metadata[1] }],
  ["both, though empty", { http: true, custom: true }, null, { http: {}, custom: {} }],
])("decodeObjects() reads an object with %s", (_, include, carried, expected) => {
  expect(decodeObjects(`[${encodeRow(plain, carried)}]`, include)).toStrictEqual([
    { ...bare, ...expected },
  ]);
});

it("decodeObjects() reads an empty page", () => {
  expect(decodeObjects("[]", nothing)).toStrictEqual([]);
});

it("decodeObjects() keeps the order and the text of the keys", () => {
  const keys = ["b", "a", "\u{1f600}\uff5e", '"\\\0\n'];
  const json = `[${keys.map((key) => encodeRow({ ...plain, key })).join()}]`;
  expect(decodeObjects(json, nothing).map(({ key }) => key)).toStrictEqual(keys);
});

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
    const usual = { http: {}, custom: {}, storageClass: "Standard" } as const;
    expect(shortCall({ method: "put", key: "k", content, ...usual })).toStrictEqual([
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
    ["an outcome with a fault", { ok: true, value: "[…]", fault: { delayMilliseconds: 1 } }],
    [
      "content in a file",
      {
        ok: true,
        value: {
          status: "found",
          object: "[…]",
          range: { offset: 0, length: 9 },
          content: [{ blob: "b", blobSize: 9, md5: "m", offset: 0, length: 9 }],
        },
      },
    ],
    ["a condition that failed", { ok: true, value: { status: "condition failed", object: "[…]" } }],
  ])("leaves %s as it is", (_, outcome) => {
    expect(shortAnswer(outcome)).toBe(outcome);
    expect(outcomeOf(outcome)).toBe(outcome);
  });
});
