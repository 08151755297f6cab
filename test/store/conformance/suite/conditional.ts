/**
 * Conditions of get() and put(), as an object and as headers (RFC 7232).
 *
 * Both methods run one table of conditions. When a condition fails, get() returns the object
 * without its body, and put() returns null and stores nothing.
 */
import { beforeAll, describe, expect, it } from "vitest";
import type {
  StoreBucket,
  StoreConditional,
  StoreObject,
  StoreObjectBody,
} from "../../../../src/types/store.ts";
import { conditionRows, etag, headerRows, second } from "./condition-rows.ts";
import { bytesOf, hello, inlineBytesMax } from "./content.ts";
import type { Failure } from "./failure.ts";
import { failureOf, fieldError, plainError, typeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket } from "./loose.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

const invalidDate = typeError("The value cannot be converted because it is not a valid Date.");
const stringField = (field: string) => fieldError(field, { on: "Conditional", type: "string" });
const dateField = (field: string) => fieldError(field, { on: "Conditional", type: "date" });

const refused: [name: string, condition: unknown, failure: Failure][] = [
  ...["etagMatches", "etagDoesNotMatch"].flatMap((field): [string, unknown, Failure][] => [
    [`${field}: a number`, { [field]: 1 }, stringField(field)],
    [`${field}: null`, { [field]: null }, stringField(field)],
    [`${field}: an array`, { [field]: ["a"] }, stringField(field)],
    [
      `${field}: in quotes`,
      { [field]: '"a"' },
      typeError('Conditional ETag should not be wrapped in quotes ("a").'),
    ],
  ]),
  ...["uploadedBefore", "uploadedAfter"].flatMap((field): [string, unknown, Failure][] => [
    [`${field}: a string`, { [field]: "2020-01-01" }, dateField(field)],
    [`${field}: null`, { [field]: null }, dateField(field)],
    [`${field}: an object`, { [field]: {} }, dateField(field)],
    [`${field}: an invalid Date`, { [field]: new Date(Number.NaN) }, invalidDate],
    [`${field}: NaN`, { [field]: Number.NaN }, invalidDate],
    [`${field}: Infinity`, { [field]: Number.POSITIVE_INFINITY }, invalidDate],
    [
      `${field}: a far date`,
      { [field]: new Date(1e15) },
      typeError("This API doesn't support dates after 2189."),
    ],
  ]),
];

const quoteExpected =
  "Comma was expected to separate etags. Encountered a double quote character '\"' instead. " +
  "This would otherwise indicate the start of a new strong etag.";

/** The error text contains the name of the header. */
const malformed = (header: string): [value: string, failure: Failure][] => [
  ["", plainError(`Invalid ETag in ${header} header`)],
  ["bare", plainError(`Invalid ETag in ${header} header`)],
  ['bare,"a"', plainError(`Invalid ETag in ${header} header`)],
  ["W/bare", plainError("Weak etags must start with W/ and their value must be quoted")],
  ['"open', plainError("Unclosed double quote for Etag")],
  ['"a""b"', plainError(quoteExpected)],
  ['"a" "b"', plainError(quoteExpected)],
];

/**
 * The content, or undefined when the object has no body. This reads the stream instead of calling
 * text(): in Node, the proxy consumes the stream as soon as `body` is read.
 */
async function contentOf(object: StoreObjectBody | StoreObject): Promise<string | undefined> {
  return "body" in object ? new Response(object.body).text() : undefined;
}

export function conditionalSuite(subject: Subject): void {
  describe("conditions", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });

    /** Stores an object, but not at a full second: there both precisions give the same result. */
    async function stored(): Promise<{ key: string; uploaded: number; version: string }> {
      const key = freshKey("conditional");
      for (;;) {
        const { uploaded, version } = await bucket.put(key, hello.text);
        const time = uploaded.getTime();
        if (time % second !== 0 && time % second !== second - 1) {
          return { key, uploaded: time, version };
        }
      }
    }

    const rows = [
      ...conditionRows,
      ...headerRows.map(({ name, headers, holds }) => ({
        name,
        condition: (uploaded: number) => new Headers(headers(uploaded)),
        holds,
      })),
    ];

    for (const { name, condition, holds } of rows) {
      it(`get() ${holds ? "returns" : "omits"} the body: ${name}`, async () => {
        const { key, uploaded, version } = await stored();
        const onlyIf = condition(uploaded);
        const object = await present(bucket.get(key, { onlyIf }));
        expect(object.version).toBe(version);
        expect(await contentOf(object)).toBe(holds ? hello.text : undefined);
      });

      it(`put() ${holds ? "stores" : "stores nothing"}: ${name}`, async () => {
        const { key, uploaded, version } = await stored();
        const result = await bucket.put(key, "new", { onlyIf: condition(uploaded) });
        const after = await present(bucket.get(key));
        expect(await after.text()).toBe(holds ? "new" : hello.text);
        expect(result === null).toBe(!holds);
        expect(after.version).toBe(result?.version ?? version);
      });
    }

    it("get() whose condition fails resolves with a StoreObject without a body", async () => {
      const { key } = await stored();
      const object = await present(bucket.get(key, { onlyIf: { etagMatches: "other" } }));
      const members = ["body", "bodyUsed", "arrayBuffer", "bytes", "text", "json", "blob"];
      expect(members.filter((member) => member in object)).toEqual([]);
      expect((object as { body?: unknown }).body).toBeUndefined();
      expect(object.key).toBe(key);
      expect(object.size).toBe(5);
      expect(object.etag).toBe(etag);
      expect(object.httpMetadata).toEqual({});
    });

    it("get() of an absent object returns null with any condition", async () => {
      const conditions: (StoreConditional | Headers)[] = [
        { etagMatches: "*" },
        { etagDoesNotMatch: "*" },
        { uploadedBefore: new Date() },
        { uploadedAfter: new Date(0) },
        new Headers({ "if-match": "*" }),
      ];
      for (const onlyIf of conditions) {
        expect(await bucket.get(freshKey("conditional"), { onlyIf })).toBeNull();
      }
    });

    it("get() takes a condition together with a range", async () => {
      const { key } = await stored();
      const range = { offset: 1, length: 3 };
      const found = await present(bucket.get(key, { range, onlyIf: { etagMatches: etag } }));
      expect(await contentOf(found)).toBe("ell");
      expect(found.range).toEqual(range);
      const failed = await present(bucket.get(key, { range, onlyIf: { etagMatches: "other" } }));
      expect(await contentOf(failed)).toBeUndefined();
    });

    const onAbsent: [name: string, make: () => StoreConditional | Headers, stores: boolean][] = [
      ["etagMatches", () => ({ etagMatches: "other" }), false],
      ["etagMatches *", () => ({ etagMatches: "*" }), false],
      ["uploadedAfter", () => ({ uploadedAfter: new Date(0) }), false],
      ["etagDoesNotMatch", () => ({ etagDoesNotMatch: "other" }), true],
      ["etagDoesNotMatch *", () => ({ etagDoesNotMatch: "*" }), true],
      ["uploadedBefore", () => ({ uploadedBefore: new Date(0) }), true],
      [
        "etagDoesNotMatch and uploadedAfter",
        () => ({ etagDoesNotMatch: "*", uploadedAfter: new Date(0) }),
        false,
      ],
      ["If-Match", () => new Headers({ "if-match": "*" }), false],
      ["If-None-Match", () => new Headers({ "if-none-match": "*" }), true],
      [
        "If-Modified-Since",
        () => new Headers({ "if-modified-since": new Date(0).toUTCString() }),
        false,
      ],
      [
        "If-Unmodified-Since",
        () => new Headers({ "if-unmodified-since": new Date(0).toUTCString() }),
        true,
      ],
    ];
    for (const [name, make, stores] of onAbsent) {
      it(`put() on an absent object ${stores ? "stores" : "stores nothing"}: ${name}`, async () => {
        const key = freshKey("conditional");
        const result = await bucket.put(key, "new", { onlyIf: make() });
        expect(result?.size).toBe(stores ? 3 : undefined);
        expect((await bucket.head(key)) !== null).toBe(stores);
      });
    }

    for (const size of [10, inlineBytesMax + 10]) {
      it(`put() creates an object in one of many concurrent calls: ${size} bytes`, async () => {
        const key = freshKey("conditional");
        const results = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            bucket.put(key, bytesOf(size, index + 1), { onlyIf: { etagDoesNotMatch: "*" } }),
          ),
        );
        const [winner, ...others] = results.filter((result) => result !== null);
        expect(others).toEqual([]);
        expect((await present(bucket.head(key))).version).toBe(winner?.version);
      });

      it(`put() replaces an etag in one of many concurrent calls: ${size} bytes`, async () => {
        const { key, version } = await stored();
        const results = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            bucket.put(key, bytesOf(size, index + 1), { onlyIf: { etagMatches: etag } }),
          ),
        );
        const [winner, ...others] = results.filter((result) => result !== null);
        expect(others).toEqual([]);
        expect(winner?.version).not.toBe(version);
        expect((await present(bucket.head(key))).version).toBe(winner?.version);
      });

      it(`put() whose condition fails stores nothing of ${size} bytes`, async () => {
        const { key, version } = await stored();
        const onlyIf = { etagMatches: "other" };
        expect(await bucket.put(key, bytesOf(size), { onlyIf })).toBeNull();
        const absent = freshKey("conditional");
        expect(await bucket.put(absent, bytesOf(size), { onlyIf })).toBeNull();
        expect((await present(bucket.head(key))).version).toBe(version);
        expect(await bucket.head(absent)).toBeNull();
      });
    }

    for (const [name, condition, failure] of refused) {
      it(`onlyIf refuses ${name}`, async () => {
        const { key, version } = await stored();
        const options = { onlyIf: condition };
        expect(await failureOf(() => looseBucket(bucket).get(key, options))).toEqual(failure);
        expect(await failureOf(() => looseBucket(bucket).put(key, "new", options))).toEqual(
          failure,
        );
        expect((await present(bucket.head(key))).version).toBe(version);
      });
    }

    for (const header of ["if-match", "if-none-match"]) {
      for (const [value, failure] of malformed(header)) {
        it(`onlyIf refuses the header ${header}: ${value}`, async () => {
          const { key, version } = await stored();
          const onlyIf = new Headers({ [header]: value });
          expect(await failureOf(() => bucket.get(key, { onlyIf }))).toEqual(failure);
          expect(await failureOf(() => bucket.put(key, "new", { onlyIf }))).toEqual(failure);
          expect((await present(bucket.head(key))).version).toBe(version);
        });
      }
    }
  });
}
