import { describe, expect, it } from "vitest";
import { StoreError } from "./errors.ts";
import {
  httpMetadataFields,
  httpMetadataFromHeaders,
  validateHeaderValue,
  validateMetadata,
  type CustomMetadata,
  type HttpMetadata,
  validateWrite,
  requireSameKey,
} from "./metadata.ts";

function headers(values: Record<string, string>): { get(name: string): string | null } {
  return { get: (name) => values[name] ?? null };
}

describe("httpMetadataFromHeaders()", () => {
  it.each([
    ["content-type", "contentType"],
    ["content-language", "contentLanguage"],
    ["content-disposition", "contentDisposition"],
    ["content-encoding", "contentEncoding"],
    ["cache-control", "cacheControl"],
  ])("takes %s as %s", (header, field) => {
    expect(httpMetadataFromHeaders(headers({ [header]: "x" }))).toStrictEqual({ [field]: "x" });
    expect(httpMetadataFields).toContain(field);
  });

  it("keeps an empty header", () => {
    expect(httpMetadataFromHeaders(headers({ "content-type": "" }))).toStrictEqual({
      contentType: "",
    });
  });

  it("takes expires as cacheExpiry, in milliseconds", () => {
    const expires = "Wed, 21 Oct 2015 07:28:00 GMT";
    expect(httpMetadataFromHeaders(headers({ expires }))).toStrictEqual({
      cacheExpiry: 1_445_412_480_000,
    });
  });

  it.each(["soon", "", "Wed, 99 Oct 2015 07:28:00 GMT"])(
    "takes expires: %j, which is no date, as the epoch",
    (expires) => {
      expect(httpMetadataFromHeaders(headers({ expires }))).toStrictEqual({ cacheExpiry: 0 });
    },
  );

  it.each(["0", "-1"])("takes expires: %s as a time in the past", (expires) => {
    const { cacheExpiry } = httpMetadataFromHeaders(headers({ expires }));
    expect(cacheExpiry).toBeLessThan(1_000_000_000_000);
  });

  it("ignores other headers", () => {
    const others = headers({ "content-length": "5", etag: '"a"', "x-custom": "y" });
    expect(httpMetadataFromHeaders(others)).toStrictEqual({});
  });
});

it.each(["\r", "\n", "\0", "a\r\nset-cookie: b", "a\0b"])(
  "validateHeaderValue() refuses %j",
  (value) => {
    expect(() => validateHeaderValue("contentType", value)).toThrow(
      new TypeError(
        "Cannot write contentType as a header: " +
          "its value contains a line break or a NUL character.",
      ),
    );
  },
);

it.each(["", "text/plain; charset=utf-8", "\t", "\xe9\u{1f600}"])(
  "validateHeaderValue() takes %j",
  (value) => {
    expect(() => validateHeaderValue("contentType", value)).not.toThrow();
  },
);

type Case = [name: string, http: HttpMetadata, custom: CustomMetadata];
const textOf = (bytes: number): string => "a".repeat(bytes);

describe("validateMetadata()", () => {
  it.each<Case>([
    ["nothing", {}, {}],
    ["8192 bytes of a value", {}, { n: textOf(8191) }],
    ["8192 bytes of a name", {}, { [textOf(8192)]: "" }],
    ["8192 bytes in 4096 characters", {}, { "": "\xe9".repeat(4096) }],
    ["8192 bytes of several pairs", {}, { ab: textOf(4094), cd: textOf(4094) }],
    ["8192 bytes of a content type", { contentType: textOf(8192) }, {}],
    ["8192 bytes of both kinds", { cacheControl: textOf(4000) }, { n: textOf(4191) }],
    ["8192 bytes and an expiry", { contentType: textOf(8192), cacheExpiry: 1 }, {}],
  ])("takes %s", (_, http, custom) => {
    expect(() => validateMetadata(http, custom)).not.toThrow();
  });

  it.each<Case>([
    ["of a value", {}, { n: textOf(8192) }],
    ["of a name", {}, { [textOf(8193)]: "" }],
    ["in 4097 characters", {}, { a: "\xe9".repeat(4096) }],
    ["of several pairs", {}, { ab: textOf(4095), cd: textOf(4094) }],
    ["of both kinds", { cacheControl: textOf(4001) }, { n: textOf(4191) }],
    ...httpMetadataFields.map((field) => [`of ${field}`, { [field]: textOf(8193) }, {}] as Case),
  ])("refuses 8193 bytes %s", (_, http, custom) => {
    expect(() => validateMetadata(http, custom)).toThrow(new StoreError(10012));
  });
});

it("validateWrite() checks the key, and the metadata of an object", () => {
  expect(() => validateWrite({ key: "a" })).not.toThrow();
  expect(() => validateWrite({ key: "a".repeat(1025) })).toThrow(StoreError);
  expect(() => validateWrite({ key: "a", http: {}, custom: { b: "c" } })).not.toThrow();
  const custom = { b: "c".repeat(10_000) };
  expect(() => validateWrite({ key: "a", http: {}, custom })).toThrow(StoreError);
});

it.each([
  [{}, undefined],
  [{ ssecKeyMd5: "a" }, "a"],
])("requireSameKey() accepts %j with the key %s", (holder, given) => {
  expect(() => requireSameKey(holder, given)).not.toThrow();
});

it.each([
  [{}, "a", "not applicable"],
  [{ ssecKeyMd5: "a" }, undefined, "correct parameters must be provided"],
  [{ ssecKeyMd5: "a" }, "b", "did not match"],
])("requireSameKey() refuses %j with the key %s", (holder, given, text) => {
  expect(() => requireSameKey(holder, given)).toThrow(
    expect.objectContaining({ code: 200004, message: expect.stringContaining(text) }),
  );
});
