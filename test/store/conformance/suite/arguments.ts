/** Rules for calls of every method: keys, values and options that are coerced, ignored or refused. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreMultipartUpload, StoreValue } from "../../../../src/types/store.ts";
import { bytesOf, sameBytes } from "../../../support/bytes.ts";
import {
  anyTypeError,
  type Failure,
  failureOf,
  farDate,
  fieldError,
  invalidDate,
  notANumber,
  notAString,
  parameterError,
  rangeError,
  storeError,
  typeError,
  valueTypes,
} from "./failures.ts";
import {
  bucket,
  bytesAt,
  env,
  freshKey,
  headOf,
  loose,
  loosely,
  metadataOf,
  noMetadata,
  onlyIn,
  present,
  textOf,
} from "./subject.ts";
import {
  consumedStream,
  declaredStream,
  disturbedStream,
  failingStream,
  hello,
  inlineBytesMax,
  lockedStream,
  streamOf,
  streamOfUnknownLength,
} from "./values.ts";

const methods = ["head", "get", "put", "delete", "list", "createMultipartUpload"] as const;
const withKeys = ["head", "get", "put", "delete", "createMultipartUpload"] as const;
const illegal = /^Illegal invocation/;

export function invocationSuite(): void {
  describe("invocation", () => {
    let upload: StoreMultipartUpload;
    beforeAll(async () => {
      upload = await bucket.createMultipartUpload(freshKey());
    });

    // Only `list` may be called without arguments.
    const badCalls = {
      ...Object.fromEntries(withKeys.map((method) => [method, () => loose[method]()])),
      list: () => loose.list(1),
      uploadPart: () => loosely(upload).uploadPart(),
      complete: () => loosely(upload).complete(),
    };
    it.each(Object.entries(badCalls))(
      "%s() returns a promise when its arguments are bad",
      async (_, call) => {
        const promise = call();
        expect(promise).toBeInstanceOf(Promise);
        await expect(promise).rejects.toBeInstanceOf(TypeError);
      },
    );

    it("methods throw synchronously for bad arguments before 2022-10-31", async () => {
      // With an older date, the platform does not turn a thrown error into a rejected promise.
      const old = loosely(env.OLD_DATE);
      for (const method of withKeys) expect(() => old[method]()).toThrow(TypeError);
      expect(() => old.list(1)).toThrow(TypeError);
      // Errors of the store are rejections with any date.
      await expect(old.head("")).rejects.toThrow("(10020)");
    });

    it("every method ignores surplus arguments", async () => {
      const key = freshKey();
      await loose.put(key, "x", {}, "more");
      expect(await loose.head(key, "more")).not.toBeNull();
      expect(await loose.get(key, {}, "more")).not.toBeNull();
      expect(await loose.list({ prefix: key }, "more")).toHaveProperty("truncated", false);
      expect(await loose.delete(key, "more")).toBeUndefined();
      expect(await bucket.head(key)).toBeNull();
    });

    // Miniflare's proxy binds the methods to the bucket, so this runs in workerd only.
    onlyIn("workerd")("methods of a bucket throw without it, as the platform's do", () => {
      for (const method of [...methods, "resumeMultipartUpload"] as const) {
        for (const owner of [undefined, {}]) {
          const call = () => Reflect.apply(loose[method], owner, ["key", "value"]);
          expect(call).toThrow(illegal);
        }
      }
    });

    it("methods of an upload and of an object fail without it", async () => {
      const error = { error: "TypeError", message: expect.stringMatching(illegal) as string };
      for (const method of ["uploadPart", "complete", "abort"] as const) {
        const call = loosely(upload)[method];
        await expect(() => Reflect.apply(call, undefined, [])).toFailWith(error);
      }
      const object = loosely(await bucket.put(freshKey(), "x"));
      const write = () => Reflect.apply(object.writeHttpMetadata, undefined, [new Headers()]);
      expect(write).toThrow(illegal);
    });
  });
}

const coercedKeys: [given: unknown, key: string][] = [
  [undefined, "undefined"],
  [null, "null"],
  [true, "true"],
  [7, "7"],
  [{}, "[object Object]"],
];

export function keySuite(): void {
  describe("keys", () => {
    describe.each(withKeys)("%s()", (method) => {
      const call = (key: unknown, value: unknown = "x") =>
        loose[method](key, ...(method === "put" ? [value] : []));

      it("refuses a missing key", async () => {
        const type = method === "delete" ? "string or Array" : "string";
        await expect(() => loose[method]()).toFailWith(parameterError(method, 1, type));
      });

      it.each([
        ["an empty key", ""],
        ["1025 bytes", "k".repeat(1025)],
        ["513 characters of two bytes", "é".repeat(513)],
        ["342 characters of three bytes", "€".repeat(342)],
      ])("refuses %s", async (_, key) => {
        for (const value of ["x", bytesOf(inlineBytesMax + 1)]) {
          await expect(() => call(key, value)).toFailWith(storeError(method, 10020));
        }
        if (key === "") return;
        expect((await bucket.list({ prefix: key.slice(0, 100) })).objects).toEqual([]);
      });

      it("refuses a symbol", async () => {
        await expect(() => call(Symbol("key"))).toFailWith(notAString);
      });
    });

    it.each(coercedKeys)("every method coerces the key %j to a string", async (given, key) => {
      expect((await loose.put(given, "x")).key).toBe(key);
      expect((await loose.head(given))?.key).toBe(key);
      expect(await (await present(loose.get(given))).text()).toBe("x");
      expect((await loose.createMultipartUpload(given)).key).toBe(key);
      expect(loose.resumeMultipartUpload(given, given)).toMatchObject({ key, uploadId: key });
      for (const keys of [given, [given]]) {
        await bucket.put(key, "x");
        expect(await loose.delete(keys)).toBeUndefined();
        expect(await bucket.head(key)).toBeNull();
      }
    });

    it("put() and head() coerce an array of keys to one key, and delete() a Set", async () => {
      const key = freshKey();
      await loose.put([key, "b"], "x");
      expect(await bucket.head(key)).toBeNull();
      expect((await loose.head([key, "b"]))?.key).toBe(`${key},b`);
      await bucket.put(key, "x");
      await bucket.put("[object Set]", "x");
      await loose.delete(new Set([key]));
      expect(await bucket.head("[object Set]")).toBeNull();
      expect(await textOf(key)).toBe("x");
    });

    it("takes a key of exactly 1024 bytes", async () => {
      for (const key of [freshKey().padEnd(1024, "k"), "é".repeat(512), "😀".repeat(256)]) {
        expect((await bucket.put(key, "x")).key).toBe(key);
        expect((await headOf(key)).key).toBe(key);
        await bucket.delete(key);
        expect(await bucket.head(key)).toBeNull();
      }
    });
  });
}

type Row = [name: string, options: unknown, failure: Failure];

/** Options that several methods have. */
const httpMetadataRows = (on: string): Row[] => {
  const http = fieldError("httpMetadata", on, "HttpMetadata or Headers");
  const expiry = fieldError("cacheExpiry", "HttpMetadata", "date");
  const cacheExpiries: [name: string, value: unknown, failure: Failure][] = [
    ["an invalid Date", new Date(Number.NaN), invalidDate],
    ["NaN", Number.NaN, invalidDate],
    ["a far date", new Date(1e15), farDate],
    ["a string", "tomorrow", expiry],
    ["null", null, expiry],
  ];
  return [
    ["httpMetadata: a number", { httpMetadata: 1 }, http],
    ["httpMetadata: a string", { httpMetadata: "text/plain" }, http],
    ["contentType: a symbol", { httpMetadata: { contentType: Symbol("type") } }, notAString],
    ...cacheExpiries.map(([name, cacheExpiry, failure]): Row => [
      `cacheExpiry: ${name}`,
      { httpMetadata: { cacheExpiry } },
      failure,
    ]),
  ];
};

const metadataRows = (on: string): Row[] => {
  const custom = fieldError("customMetadata", on, "object");
  return [
    ...httpMetadataRows(on),
    ...[1, "a=b", ["a"], null].map((customMetadata): Row => [
      `customMetadata: ${JSON.stringify(customMetadata)}`,
      { customMetadata },
      custom,
    ]),
    ["customMetadata: a symbol", { customMetadata: { a: Symbol("a") } }, notAString],
    ...["Glacier", "standard", "", 1, null].map((storageClass): Row => [
      `storageClass: ${JSON.stringify(storageClass)}`,
      { storageClass },
      anyTypeError,
    ]),
  ];
};

const notOptions = (failure: Failure): Row[] =>
  [1, "options", true, Symbol("options")].map((value) => [String(value), value, failure]);

const conditionalRows = (on: string): Row[] =>
  [1, "*"].map((onlyIf) => [
    `onlyIf: ${onlyIf}`,
    { onlyIf },
    fieldError("onlyIf", on, "Conditional or Headers"),
  ]);

const rangeField = fieldError("range", "GetOptions", "Range or Headers");
const refusedOptions: Record<"get" | "put" | "createMultipartUpload", Row[]> = {
  get: [
    ...notOptions(parameterError("get", 2, "GetOptions")),
    ...conditionalRows("GetOptions"),
    ...httpMetadataRows("GetOptions"),
    ["range: a number", { range: 1 }, rangeField],
    ["range: a string", { range: "bytes=0-1" }, rangeField],
    ["range: a symbol", { range: { offset: Symbol("offset") } }, notANumber],
  ],
  put: [
    ...notOptions(parameterError("put", 3, "PutOptions")),
    ...conditionalRows("PutOptions"),
    ...metadataRows("PutOptions"),
  ],
  createMultipartUpload: [
    ...notOptions(parameterError("createMultipartUpload", 2, "MultipartOptions")),
    ...metadataRows("MultipartOptions"),
  ],
};

/** Options that are as if absent. */
const ignoredOptions: [name: string, options: unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["an empty object", {}],
  ["unknown fields", { colour: "red" }],
  ["onlyIf: an empty object", { onlyIf: {} }],
  ...["onlyIf", "httpMetadata", "range"].map((name): [string, unknown] => [
    `${name}: null`,
    { [name]: null },
  ]),
  ...["onlyIf", "httpMetadata", "range", "customMetadata", "md5", "storageClass"].map(
    (name): [string, unknown] => [`${name}: undefined`, { [name]: undefined }],
  ),
];

export function optionSuite(): void {
  describe("options", () => {
    for (const [name, rows] of Object.entries(refusedOptions)) {
      const method = name as keyof typeof refusedOptions;
      it.each(rows)(`${method}() refuses options: %s`, async (_, options, failure) => {
        const [key, absent] = [freshKey(), freshKey()];
        const { version } = await bucket.put(key, hello.text);
        for (const target of [key, absent]) {
          const rest = method === "put" ? ["new", options] : [options];
          await expect(() => loose[method](target, ...rest)).toFailWith(failure);
        }
        expect((await headOf(key)).version).toBe(version);
        expect(await bucket.head(absent)).toBeNull();
      });
    }

    it.each(ignoredOptions)(
      "get(), put() and createMultipartUpload() ignore %s",
      async (_, options) => {
        const key = freshKey();
        expect(metadataOf(await loose.put(key, hello.text, options))).toEqual(noMetadata);
        const object = await present(loose.get(key, options));
        expect(metadataOf(object)).toEqual(noMetadata);
        expect(object.range).toEqual({ offset: 0, length: 5 });
        expect(await object.text()).toBe(hello.text);
        const upload = await loose.createMultipartUpload(key, options);
        const completed = await upload.complete([await upload.uploadPart(1, "x")]);
        expect(metadataOf(completed)).toEqual(noMetadata);
      },
    );

    it("put() refuses bad options before it reads a stream, and cancels the stream", async () => {
      const key = freshKey();
      const failure = fieldError("onlyIf", "PutOptions", "Conditional or Headers");
      const reasons: unknown[] = [];
      const streams = [
        streamOf(bytesOf(10)),
        new ReadableStream({ cancel: (reason) => void reasons.push(reason) }),
      ];
      for (const stream of streams) {
        await expect(() => loose.put(key, stream, { onlyIf: 1 })).toFailWith(failure);
      }
      // Otherwise what writes to the stream would wait for a reader.
      expect(reasons).toEqual([expect.objectContaining({ message: failure.message })]);
      expect(await bucket.head(key)).toBeNull();
    });
  });
}

/** The failures of a write to a free and to an occupied place. Both must be as before. */
const attempts = {
  async put(make: () => unknown) {
    const [free, occupied] = [freshKey(), freshKey()];
    const { version } = await bucket.put(occupied, hello.text, { customMetadata: { old: "yes" } });
    const failures = [];
    for (const key of [free, occupied]) {
      const value = await make();
      failures.push(await failureOf(() => loose.put(key, value)));
    }
    expect(await bucket.head(free)).toBeNull();
    expect(await headOf(occupied)).toMatchObject({ version, customMetadata: { old: "yes" } });
    expect(await textOf(occupied)).toBe(hello.text);
    return failures;
  },
  async uploadPart(make: () => unknown) {
    const upload = loosely(await bucket.createMultipartUpload(freshKey()));
    const old = await upload.uploadPart(1, "abc");
    const failures = [];
    for (const partNumber of [1, 2]) {
      const value = await make();
      failures.push(await failureOf(() => upload.uploadPart(partNumber, value)));
    }
    const missing = storeError("completeMultipartUpload", 10025);
    await expect(() => upload.complete([{ ...old, partNumber: 2 }])).toFailWith(missing);
    await upload.complete([old]);
    expect(await textOf(upload.key)).toBe("abc");
    return failures;
  },
};

function detached<View extends ArrayBufferView | ArrayBuffer>(value: View): View {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value;
  structuredClone(value, { transfer: [buffer as ArrayBuffer] });
  return value;
}

const locked = typeError("The ReadableStream has been locked to a reader.");
const shortStream = typeError("FixedLengthStream did not see all expected bytes before close().");
const longStream = typeError("Attempt to write too many bytes through a FixedLengthStream.");
const unknownLength = typeError(
  "Provided readable stream must have a known length " +
    "(request/response body or readable half of FixedLengthStream)",
);
const declaredBytesMax = 5 * 1024 ** 3 - 5 * 1024 ** 2;

const both = (failure: Failure) => [failure, failure];

export function valueSuite(): void {
  describe("values", () => {
    describe.each(["put", "uploadPart"] as const)("%s()", (method) => {
      const type = parameterError(method, 2, valueTypes);
      const attempt = attempts[method];

      const notValues: [name: string, make: () => unknown][] = [
        ...[1, Number.NaN, true, 1n, Symbol("value")].map((value): [string, () => unknown] => [
          String(value),
          () => value,
        ]),
        ["an object", () => ({})],
        ["an array", () => ["a"]],
        ["a Date", () => new Date(0)],
        ["a Map", () => new Map()],
        ["a function", () => () => "x"],
        ["a Response", () => new Response("x")],
        ["URLSearchParams", () => new URLSearchParams("a=b")],
        ["FormData", () => new FormData()],
        // put() stores 0 bytes for these.
        ...(method === "put" ? [] : [undefined, null]).map((value): [string, () => unknown] => [
          String(value),
          () => value,
        ]),
      ];
      it.each(notValues)("refuses a value: %s", async (_, make) => {
        expect(await attempt(make)).toEqual(both(type));
      });

      it("refuses a missing value", async () => {
        const upload = loosely(await bucket.createMultipartUpload(freshKey()));
        const call = () => (method === "put" ? loose.put(upload.key) : upload.uploadPart(1));
        await expect(call).toFailWith(type);
        expect(await bucket.head(upload.key)).toBeNull();
      });

      it("refuses a detached ArrayBuffer, and a view of one", async () => {
        expect(await attempt(() => detached(new ArrayBuffer(8)))).toEqual(both(anyTypeError));
        expect(await attempt(() => detached(new Uint8Array(8)))).toEqual(both(anyTypeError));
      });

      it.each<[kind: string, valueOf: (bytes: Uint8Array<ArrayBuffer>) => StoreValue]>([
        ["an ArrayBuffer", (bytes) => bytes.buffer],
        ["a view", (bytes) => bytes],
      ])("stores the bytes that %s has at the call", async (_, valueOf) => {
        for (const size of [10, inlineBytesMax * 2]) {
          const [value, expected] = [bytesOf(size), bytesOf(size)];
          const upload = await bucket.createMultipartUpload(freshKey());
          const writing =
            method === "put"
              ? bucket.put(upload.key, valueOf(value))
              : upload.uploadPart(1, valueOf(value)).then((part) => upload.complete([part]));
          value.fill(0);
          expect((await writing).size).toBe(size);
          expect(sameBytes(await bytesAt(upload.key), expected)).toBe(true);
        }
      });

      it("refuses a stream that is locked, or that has been read", async () => {
        expect(await attempt(lockedStream)).toEqual(both(locked));
        expect(await attempt(consumedStream)).toEqual(both(locked));
      });

      it.each([10, inlineBytesMax * 3])(
        "fails with the stream's error halfway through %i bytes",
        async (size) => {
          const failures = await attempt(() => failingStream(size, new RangeError("boom")));
          expect(failures).toEqual(both(rangeError("boom")));
        },
      );

      // In Node, a partly read stream delivers the rest, and its length is unknown.
      onlyIn("workerd")("refuses a partly read stream", async () => {
        const disturbed = typeError("This ReadableStream is disturbed.");
        expect(await attempt(disturbedStream)).toEqual(both(disturbed));
      });

      // In Node, streams have no declared length.
      onlyIn("workerd")("refuses a stream whose length is not the declared length", async () => {
        for (const length of [10, inlineBytesMax * 3]) {
          expect(await attempt(() => streamOf(bytesOf(length - 1), { length }))).toEqual(
            both(shortStream),
          );
          expect(await attempt(() => streamOf(bytesOf(length + 1), { length }))).toEqual(
            both(longStream),
          );
        }
      });

      onlyIn("workerd")("refuses a stream of unknown length", async () => {
        const closed = { start: (controller: { close(): void }) => controller.close() };
        expect(await attempt(() => new ReadableStream(closed))).toEqual(both(unknownLength));
        expect(await attempt(streamOfUnknownLength)).toEqual(both(unknownLength));
        expect(await attempt(() => new TransformStream().readable)).toEqual(both(unknownLength));
      });

      // Only FixedLengthStream can declare a length without carrying the bytes.
      onlyIn("workerd")("refuses a declared length of more than 5 GiB less 5 MiB", async () => {
        const failures = await attempt(() => declaredStream(declaredBytesMax + 1));
        expect(failures).toEqual(both(storeError(method, 100100)));
      });
    });

    onlyIn("node")("put() stores a stream of unknown length", async () => {
      const [key, bytes] = [freshKey(), bytesOf(inlineBytesMax * 2)];
      expect((await bucket.put(key, streamOf(bytes))).size).toBe(bytes.length);
      expect(sameBytes(await bytesAt(key), bytes)).toBe(true);
    });

    it("writeHttpMetadata() refuses an argument that is not a Headers object", async () => {
      const object = loosely(await bucket.put(freshKey(), "x"));
      const failure = parameterError("writeHttpMetadata", 1, "Headers");
      for (const bad of [[], [undefined], [null], [{}], [new Map()], ["x"], [1], [Symbol("x")]]) {
        await expect(() => object.writeHttpMetadata(...bad)).toFailWith(failure);
      }
    });
  });
}
