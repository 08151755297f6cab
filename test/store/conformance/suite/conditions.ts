/**
 * Conditions of get() and put(), as an object and as headers (RFC 7232).
 *
 * Both methods run one table of conditions. When a condition fails, get() returns the object without
 * its body, and put() returns null and stores nothing. Conditions as an object compare dates in
 * milliseconds; conditions as headers, in seconds.
 */
import { describe, expect, it } from "vitest";
import type { StoreConditional } from "../../../../src/types/store.ts";
import { bytesOf } from "../../../support/bytes.ts";
import {
  type Failure,
  farDate,
  fieldError,
  invalidDate,
  plainError,
  typeError,
} from "./failures.ts";
import { bucket, freshKey, headOf, loose, present } from "./subject.ts";
import { hello, inlineBytesMax } from "./values.ts";

const etag = hello.md5;
const second = 1000;
const minute = 60 * second;

/** Whether the condition holds for an object with the content `hello`. */
type Row<Time, Fields> = [name: string, condition: (time: Time) => Fields, holds: boolean];

/** Dates relative to the upload of the object, and to the begin of the second of the upload. */
interface Times {
  readonly at: (milliseconds: number) => Date;
  readonly whole: (milliseconds: number) => Date;
}

const secondsGranularity = true;
const conditionRows: Row<Times, object>[] = [
  ["no field", () => ({}), true],
  ["etagMatches the etag", () => ({ etagMatches: etag }), true],
  ["etagMatches another", () => ({ etagMatches: "other" }), false],
  ["etagMatches *", () => ({ etagMatches: "*" }), true],
  ["etagMatches an empty etag", () => ({ etagMatches: "" }), false],
  ["etagDoesNotMatch the etag", () => ({ etagDoesNotMatch: etag }), false],
  ["etagDoesNotMatch another", () => ({ etagDoesNotMatch: "other" }), true],
  ["etagDoesNotMatch *", () => ({ etagDoesNotMatch: "*" }), false],
  ["uploadedBefore a millisecond later", ({ at }) => ({ uploadedBefore: at(1) }), true],
  ["uploadedBefore the same millisecond", ({ at }) => ({ uploadedBefore: at(0) }), false],
  ["uploadedAfter a millisecond earlier", ({ at }) => ({ uploadedAfter: at(-1) }), true],
  ["uploadedAfter the same millisecond", ({ at }) => ({ uploadedAfter: at(0) }), false],
  [
    "uploadedBefore and uploadedAfter around the upload time",
    ({ at }) => ({ uploadedBefore: at(1), uploadedAfter: at(-1) }),
    true,
  ],
  [
    "dates as numbers that hold",
    ({ at }) => ({ uploadedBefore: at(1).getTime(), uploadedAfter: at(-1).getTime() }),
    true,
  ],
  ["dates as numbers that fail", ({ at }) => ({ uploadedBefore: at(0).getTime() }), false],
  ["a date before 1970", () => ({ uploadedAfter: new Date(-1) }), true],
  [
    "secondsGranularity: uploadedAfter the same second",
    ({ whole }) => ({ uploadedAfter: whole(0), secondsGranularity }),
    false,
  ],
  [
    "secondsGranularity: uploadedAfter the second before",
    ({ at }) => ({ uploadedAfter: at(-second), secondsGranularity }),
    true,
  ],
  [
    "secondsGranularity: uploadedBefore the end of the same second",
    ({ whole }) => ({ uploadedBefore: whole(second - 1), secondsGranularity }),
    false,
  ],
  [
    "a later uploadedAfter, with an etagDoesNotMatch that holds",
    ({ at }) => ({ etagDoesNotMatch: "other", uploadedAfter: at(minute) }),
    true,
  ],
  [
    "an earlier uploadedBefore, with an etagMatches that holds",
    ({ at }) => ({ etagMatches: etag, uploadedBefore: at(-minute) }),
    true,
  ],
  [
    "a later uploadedAfter, with an etagMatches that holds",
    ({ at }) => ({ etagMatches: etag, uploadedAfter: at(minute) }),
    false,
  ],
  [
    "an earlier uploadedBefore, with an etagDoesNotMatch that holds",
    ({ at }) => ({ etagDoesNotMatch: "other", uploadedBefore: at(-minute) }),
    false,
  ],
  [
    "an earlier uploadedAfter, with an etagDoesNotMatch that fails",
    ({ at }) => ({ etagDoesNotMatch: etag, uploadedAfter: at(-minute) }),
    false,
  ],
  [
    "both etag conditions, one of which fails",
    () => ({ etagMatches: etag, etagDoesNotMatch: etag }),
    false,
  ],
  [
    "both etag conditions, which both hold",
    () => ({ etagMatches: etag, etagDoesNotMatch: "other" }),
    true,
  ],
];

type HttpDate = (milliseconds: number) => string;

/** A condition of one header, for which `%` stands for the etag. */
const tagRow = (
  name: string,
  header: "if-match" | "if-none-match",
  value: string,
  holds: boolean,
): Row<HttpDate, Record<string, string>> => [
  name,
  () => ({ [header]: value.replace("%", `"${etag}"`) }),
  holds,
];
const dateRow = (
  name: string,
  header: "if-modified-since" | "if-unmodified-since",
  milliseconds: number,
  holds: boolean,
): Row<HttpDate, Record<string, string>> => [
  name,
  (date) => ({ [header]: date(milliseconds) }),
  holds,
];

const headerRows: Row<HttpDate, Record<string, string>>[] = [
  ["no conditional header", () => ({ accept: "*/*" }), true],
  ["If-Range, which is ignored", () => ({ "if-range": '"other"' }), true],
  tagRow("If-Match the etag", "if-match", "%", true),
  tagRow("If-Match another", "if-match", '"other"', false),
  tagRow("If-Match *", "if-match", "*", true),
  tagRow("If-Match a list with the etag", "if-match", '"other", %', true),
  tagRow("If-Match a list without spaces", "if-match", '"other",%,"more"', true),
  tagRow("If-Match a list without the etag", "if-match", '"other", W/"more"', false),
  tagRow("If-Match the weak form: the comparison is strong", "if-match", "W/%", false),
  tagRow("If-None-Match the etag", "if-none-match", "%", false),
  tagRow("If-None-Match another", "if-none-match", '"other"', true),
  tagRow("If-None-Match *", "if-none-match", "*", false),
  tagRow("If-None-Match a list with *", "if-none-match", '"other", *', false),
  tagRow("If-None-Match a list with the etag", "if-none-match", '"other", %', false),
  tagRow("If-None-Match the weak form: the comparison is weak", "if-none-match", "W/%", false),
  tagRow("If-None-Match an etag with a comma", "if-none-match", `"a,${etag}"`, true),
  dateRow("If-Modified-Since the same second", "if-modified-since", 0, false),
  dateRow("If-Modified-Since the second before", "if-modified-since", -second, true),
  dateRow("If-Modified-Since a later time", "if-modified-since", minute, false),
  ["If-Modified-Since an invalid date", () => ({ "if-modified-since": "yesterday" }), true],
  dateRow("If-Unmodified-Since the same second", "if-unmodified-since", 0, false),
  dateRow("If-Unmodified-Since the second after", "if-unmodified-since", second, true),
  dateRow("If-Unmodified-Since an earlier time", "if-unmodified-since", -minute, false),
  [
    "a later If-Modified-Since, with an If-None-Match that holds",
    (date) => ({ "if-none-match": '"other"', "if-modified-since": date(minute) }),
    true,
  ],
  [
    "an earlier If-Unmodified-Since, with an If-Match that holds",
    (date) => ({ "if-match": `"${etag}"`, "if-unmodified-since": date(-minute) }),
    true,
  ],
  [
    "an If-Match that holds and an If-None-Match that fails",
    () => ({ "if-match": `"${etag}"`, "if-none-match": `"${etag}"` }),
    false,
  ],
];

const allRows = [
  ...conditionRows,
  ...headerRows.map(([name, headers, holds]): Row<Times, object> => [
    name,
    ({ at }) => new Headers(headers((milliseconds) => at(milliseconds).toUTCString())),
    holds,
  ]),
];

const epoch = new Date(0);
const onAbsent: [name: string, condition: StoreConditional | Record<string, string>, boolean][] = [
  ["etagMatches", { etagMatches: "other" }, false],
  ["etagMatches *", { etagMatches: "*" }, false],
  ["uploadedAfter", { uploadedAfter: epoch }, false],
  ["etagDoesNotMatch", { etagDoesNotMatch: "other" }, true],
  ["etagDoesNotMatch *", { etagDoesNotMatch: "*" }, true],
  ["uploadedBefore", { uploadedBefore: epoch }, true],
  ["etagDoesNotMatch and uploadedAfter", { etagDoesNotMatch: "*", uploadedAfter: epoch }, false],
  ["If-Match", { "if-match": "*" }, false],
  ["If-None-Match", { "if-none-match": "*" }, true],
  ["If-Modified-Since", { "if-modified-since": epoch.toUTCString() }, false],
  ["If-Unmodified-Since", { "if-unmodified-since": epoch.toUTCString() }, true],
];

const quoteExpected = plainError(
  "Comma was expected to separate etags. Encountered a double quote character '\"' instead. " +
    "This would otherwise indicate the start of a new strong etag.",
);

const refused: [name: string, condition: unknown, failure: Failure][] = [
  ...["etagMatches", "etagDoesNotMatch"].flatMap((field): typeof refused => {
    const notText = fieldError(field, "Conditional", "string");
    const quoted = typeError('Conditional ETag should not be wrapped in quotes ("a").');
    return [
      [`${field}: a number`, { [field]: 1 }, notText],
      [`${field}: null`, { [field]: null }, notText],
      [`${field}: an array`, { [field]: ["a"] }, notText],
      [`${field}: a symbol`, { [field]: Symbol("tag") }, notText],
      [`${field}: in quotes`, { [field]: '"a"' }, quoted],
    ];
  }),
  ...["uploadedBefore", "uploadedAfter"].flatMap((field): typeof refused => {
    const notDate = fieldError(field, "Conditional", "date");
    return [
      [`${field}: a string`, { [field]: "2020-01-01" }, notDate],
      [`${field}: null`, { [field]: null }, notDate],
      [`${field}: an object`, { [field]: {} }, notDate],
      [`${field}: an invalid Date`, { [field]: new Date(Number.NaN) }, invalidDate],
      [`${field}: NaN`, { [field]: Number.NaN }, invalidDate],
      [`${field}: Infinity`, { [field]: Number.POSITIVE_INFINITY }, invalidDate],
      [`${field}: a far date`, { [field]: new Date(1e15) }, farDate],
    ];
  }),
  ...["if-match", "if-none-match"].flatMap((header): typeof refused => {
    const invalid = plainError(`Invalid ETag in ${header} header`);
    const rows: [value: string, failure: Failure][] = [
      ["", invalid],
      ["bare", invalid],
      ['bare,"a"', invalid],
      ["W/bare", plainError("Weak etags must start with W/ and their value must be quoted")],
      ['"open', plainError("Unclosed double quote for Etag")],
      ['"a""b"', quoteExpected],
      ['"a" "b"', quoteExpected],
    ];
    return rows.map(([value, failure]) => [
      `${header}: ${value}`,
      new Headers({ [header]: value }),
      failure,
    ]);
  }),
];

/**
 * The content, or undefined when the object has no body. This reads the stream instead of calling
 * text(): in Node, the proxy consumes the stream as soon as `body` is read.
 */
async function contentOf(object: object): Promise<string | undefined> {
  return "body" in object ? new Response(object.body as ReadableStream).text() : undefined;
}

/** Stores an object, but not at a full second: there both precisions give the same result. */
async function stored(): Promise<{ key: string; version: string } & Times> {
  const key = freshKey();
  for (;;) {
    const { uploaded, version } = await bucket.put(key, hello.text);
    const time = uploaded.getTime();
    const within = time % second;
    if (within === 0 || within === second - 1) continue;
    const at = (milliseconds: number) => new Date(time + milliseconds);
    return { key, version, at, whole: (milliseconds) => at(milliseconds - within) };
  }
}

export function conditionSuite(): void {
  describe("conditions", () => {
    for (const [name, condition, holds] of allRows) {
      it(`get() ${holds ? "returns" : "omits"} the body: ${name}`, async () => {
        const { key, version, ...times } = await stored();
        const object = await present(bucket.get(key, { onlyIf: condition(times) }));
        expect(object.version).toBe(version);
        expect(await contentOf(object)).toBe(holds ? hello.text : undefined);
      });

      it(`put() ${holds ? "stores" : "stores nothing"}: ${name}`, async () => {
        const { key, version, ...times } = await stored();
        const result = await bucket.put(key, "new", { onlyIf: condition(times) });
        const after = await present(bucket.get(key));
        expect(await after.text()).toBe(holds ? "new" : hello.text);
        expect(result === null).toBe(!holds);
        expect(after.version).toBe(result?.version ?? version);
      });
    }

    it.each(onAbsent)("an absent object, with %s: get() returns null", async (_, given, stores) => {
      const isHeaders = Object.keys(given)[0]?.startsWith("if-") === true;
      const onlyIf = isHeaders ? new Headers(given as Record<string, string>) : given;
      const key = freshKey();
      expect(await bucket.get(key, { onlyIf })).toBeNull();
      const result = await bucket.put(key, "new", { onlyIf });
      expect(result?.size).toBe(stores ? 3 : undefined);
      expect((await bucket.head(key)) !== null).toBe(stores);
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

    describe.each([10, inlineBytesMax + 10])("%i bytes", (size) => {
      it.each(["creates an object", "replaces an etag"])(
        "put() %s in one of many concurrent calls",
        async (what) => {
          const isNew = what === "creates an object";
          const old = isNew ? null : await stored();
          const key = old?.key ?? freshKey();
          const onlyIf = isNew ? { etagDoesNotMatch: "*" } : { etagMatches: etag };
          const results = await Promise.all(
            Array.from({ length: 8 }, (_, index) =>
              bucket.put(key, bytesOf(size, index + 1), { onlyIf }),
            ),
          );
          const [winner, ...others] = results.filter((result) => result !== null);
          expect(others).toEqual([]);
          expect(winner?.version).not.toBe(old?.version ?? "");
          expect((await headOf(key)).version).toBe(winner?.version);
        },
      );

      it("put() whose condition fails stores nothing", async () => {
        const { key, version } = await stored();
        const absent = freshKey();
        for (const target of [key, absent]) {
          const onlyIf = { etagMatches: "other" };
          expect(await bucket.put(target, bytesOf(size), { onlyIf })).toBeNull();
        }
        expect((await headOf(key)).version).toBe(version);
        expect(await bucket.head(absent)).toBeNull();
      });
    });

    it.each(refused)("onlyIf refuses %s", async (_, onlyIf, failure) => {
      const { key, version } = await stored();
      await expect(() => loose.get(key, { onlyIf })).toFailWith(failure);
      await expect(() => loose.put(key, "new", { onlyIf })).toFailWith(failure);
      expect((await headOf(key)).version).toBe(version);
    });
  });
}
