/** The rules of headers: metadata, conditions, ranges, checksums, headers that are refused. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checksumElements, checksumHeaders, decodeWords, encodeWords } from "../http/headers.ts";
import { parseUploadChecksum } from "./request-checksum.ts";
import { contentRange } from "../store/core/byte-range.ts";
import { conditionHolds, failedStatus, parseIfRange } from "../store/core/conditional.ts";
import {
  parseConditions,
  parseCopySource,
  parseCopyRange,
  parseRange,
  customerKeyHeaders,
  parseCustomerKey,
  sourceKeyPrefix,
  objectHeaders,
  overriddenHeaders,
  parseDescription,
} from "./object-headers.ts";
import { parseParameters } from "./route.ts";

const headersOf = (values: Record<string, string | undefined>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

describe("encoded words", () => {
  it("decodes what RFC 2047 shows, and leaves the rest", () => {
    expect(decodeWords("=?ISO-8859-1?Q?a_=E9?= =?utf-8?b?w6k=?= x")).toBe("a éé x");
    expect(decodeWords("=?none?B?AA==?= plain")).toBe("=?none?B?AA==?= plain");
  });

  it("carries every text through a header", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0x10ffff), { maxLength: 20 }), (points) => {
        const text = String.fromCodePoint(...points);
        const encoded = encodeWords(text);
        if (encoded === null) return !text.isWellFormed();
        // oxlint-disable-next-line no-control-regex -- control characters are intended
        return /^[\x20-\x7e]*$/.test(encoded) && decodeWords(encoded) === text;
      }),
    );
    expect(encodeWords("\ud800")).toBeNull();
  });
});

describe("metadata headers", () => {
  it("describe an object as the binding does", () => {
    const headers = headersOf({
      "content-type": "text/plain",
      "content-encoding": "aws-chunked, gzip",
      expires: "Thu, 01 Jan 1970 00:00:01 GMT",
      "x-amz-meta-name": "=?utf-8?B?w6k=?=",
      "x-amz-storage-class": "STANDARD_IA",
    });
    expect(parseDescription(headers)).toEqual({
      http: { contentType: "text/plain", contentEncoding: "gzip", cacheExpiry: 1000 },
      custom: { name: "é" },
      storageClass: "InfrequentAccess",
    });
    expect(parseDescription(headersOf({ "content-encoding": "aws-chunked" })).http).toEqual({});
    expect(parseDescription(headersOf({ "content-encoding": "deflate, gzip" })).http).toEqual({
      contentEncoding: "deflate, gzip",
    });
    expect(() => parseDescription(headersOf({ "x-amz-storage-class": "GLACIER" }))).toThrow(
      "storage class specified is not valid",
    );
  });

  it("are those of the object, and count what no header can carry", () => {
    const headers = objectHeaders({
      etag: "abc",
      uploaded: 0,
      storageClass: "InfrequentAccess",
      http: { contentLanguage: "de", cacheExpiry: 0, cacheControl: "a\u0001é" },
      custom: { a: "b", ü: "x", lone: "\ud800" },
    });
    expect(headers).toEqual({
      "content-type": "application/octet-stream",
      "accept-ranges": "bytes",
      etag: '"abc"',
      "last-modified": "Thu, 01 Jan 1970 00:00:00 GMT",
      "content-language": "de",
      "cache-control": "a Ã©",
      expires: "Thu, 01 Jan 1970 00:00:00 GMT",
      "x-amz-storage-class": "STANDARD_IA",
      "x-amz-meta-a": "b",
      "x-amz-missing-meta": "2",
    });
  });

  it("are overridden by parameters", () => {
    const parameters = parseParameters("response-content-type=a%0D%0Ab&response-other=x");
    expect(overriddenHeaders(parameters)).toEqual({ "content-type": "a  b" });
  });
});

describe("parseConditions()", () => {
  it("accepts entity tags with quotes and without", () => {
    expect(parseConditions(headersOf({ "if-match": '"a", W/"b"' }))).toEqual({
      etagMatches: [
        { kind: "strong", value: "a" },
        { kind: "weak", value: "b" },
      ],
      secondsGranularity: true,
    });
    expect(parseConditions(headersOf({ "x-if-none-match": "abc" }), "x-")).toEqual({
      etagDoesNotMatch: [{ kind: "strong", value: "abc" }],
      secondsGranularity: true,
    });
    expect(parseConditions(headersOf({ "if-modified-since": "never" }))).toBeUndefined();
    expect(() => parseConditions(headersOf({ "if-match": '"a' }))).toThrow("Unclosed");
  });

  it("tells a version that the client has from a version that it does not want", () => {
    const object = { etag: "a", uploaded: 5500 };
    const status = (values: Record<string, string>) =>
      failedStatus(parseConditions(headersOf(values)) ?? {}, object);
    expect(status({ "if-none-match": '"a"' })).toBe(304);
    expect(status({ "if-match": '"b"' })).toBe(412);
    expect(status({ "if-match": '"b"', "if-none-match": '"a"' })).toBe(412);
    // The second of the upload is not after itself.
    expect(status({ "if-unmodified-since": new Date(5000).toUTCString() })).toBe(304);
    expect(status({ "if-unmodified-since": new Date(4000).toUTCString() })).toBe(412);
  });
});

describe("parseIfRange()", () => {
  const object = { etag: "a", uploaded: 5500 };
  it.each([
    ['"a"', true],
    ["a", true],
    ['"b"', false],
    // A weak tag does not say that the bytes are the same.
    ['W/"a"', false],
    [new Date(5000).toUTCString(), true],
    // The exact time counts, not an interval.
    [new Date(4000).toUTCString(), false],
    [new Date(6000).toUTCString(), false],
    ['"a", "b"', false],
    ["", false],
  ])("of %j: the range counts: %j", (header, holds) => {
    const condition = parseIfRange(headersOf({ "if-range": header }));
    expect(conditionHolds(condition ?? {}, object)).toBe(holds);
  });

  it("is no condition without the header", () => {
    expect(parseIfRange(headersOf({}))).toBeUndefined();
  });
});

describe("parseRange()", () => {
  it.each([
    ["bytes=0-0", { offset: 0, length: 1 }],
    ["bytes=5-", { offset: 5 }],
    ["bytes=-3", { suffix: 3 }],
  ])("reads %s", (header, range) => {
    expect(parseRange(header)).toEqual(range);
  });

  it.each([
    ["bytes=zzz", "'bytes=-suffix'.'"],
    ["bytes=0-1,3-4", "'bytes=-suffix'.'"],
    ["items=0-1", "'bytes=-suffix'.'"],
    ["bytes=5-2", "range must be positive."],
  ])("refuses %s", (header, text) => {
    expect(() => parseRange(header)).toThrow(text);
  });

  it("of a copy has both ends", () => {
    expect(parseCopyRange("bytes=1-2")).toEqual({ offset: 1, length: 2 });
    expect(() => parseCopyRange("bytes=0-")).toThrow("Invalid x-amz-copy-source-range: bytes=0-");
    expect(() => parseCopyRange("bytes=5-2")).toThrow("x-amz-copy-source-range must be positive.");
    expect(contentRange({ offset: 1, length: 2 }, 10)).toBe("bytes 1-2/10");
  });
});

const parseKind = (algorithm: string, type?: string) =>
  parseUploadChecksum(
    headersOf({
      "x-amz-checksum-algorithm": algorithm,
      ...(type !== undefined && { "x-amz-checksum-type": type }),
    }),
  );

describe("checksum headers", () => {
  it("show whole and composite checksums", () => {
    const checksums = { md5: "00", crc32: "3610a686-3" };
    expect(checksumHeaders(checksums)).toEqual({
      "x-amz-checksum-crc32": "NhCmhg==-3",
      "x-amz-checksum-type": "COMPOSITE",
    });
    expect(checksumElements(checksums)).toEqual({ ChecksumCRC32: "NhCmhg==-3" });
    expect(checksumHeaders({ md5: "00" })).toEqual({});
  });

  it("choose the kind of an upload", () => {
    expect(parseKind("CRC64NVME").checksumType).toBe("full object");
    expect(parseKind("CRC32").checksumType).toBe("composite");
    expect(() => parseKind("SHA256", "FULL_OBJECT")).toThrow("cannot be used with the sha256");
    expect(() => parseKind("MD4")).toThrow("Checksum algorithm provided is unsupported");
    expect(() => parseKind("CRC32", "HALF")).toThrow("x-amz-checksum-type header is invalid");
  });
});

it("parseCopySource() reads a bucket and a key of the only version", () => {
  expect(parseCopySource("/b/a%20b/c?versionId=null")).toEqual({
    bucketName: "b",
    key: "a b/c",
  });
  expect(parseCopySource("b/a?b").key).toBe("a?b");
  expect(() => parseCopySource("b/a?versionId=1")).toThrow("version does not exist");
  expect(() => parseCopySource("no-slash")).toThrow("copy source bucket name");
});

describe("the key of a customer", () => {
  const name = "x-amz-server-side-encryption-customer-";
  const key = {
    [`${name}algorithm`]: "AES256",
    [`${name}key`]: "pO3upElrwuEXSoFwCfnZPdSsmt/xWeFa0N9KgDijwVs=",
    [`${name}key-md5`]: "DWygnHRtgiJ77HCm+1rvHw==",
  };

  it("is known by its hash", () => {
    const holder = parseCustomerKey(headersOf(key));
    expect(holder).toEqual({ ssecKeyMd5: "0d6ca09c746d82227bec70a6fb5aef1f" });
    expect(customerKeyHeaders(holder)).toEqual({
      [`${name}algorithm`]: "AES256",
      [`${name}key-md5`]: "DWygnHRtgiJ77HCm+1rvHw==",
    });
    expect([parseCustomerKey(headersOf({})), customerKeyHeaders({})]).toEqual([{}, {}]);
  });

  it("of the source of a copy is in headers of its own", () => {
    const source = Object.entries(key).map(([each, value]) => [
      each.replace("x-amz-", "x-amz-copy-source-"),
      value,
    ]);
    const headers = headersOf(Object.fromEntries(source) as Record<string, string>);
    expect(parseCustomerKey(headers, sourceKeyPrefix).ssecKeyMd5).toBe(
      "0d6ca09c746d82227bec70a6fb5aef1f",
    );
    expect(parseCustomerKey(headers)).toEqual({});
    expect(parseCustomerKey(headersOf(key), sourceKeyPrefix)).toEqual({});
  });

  it.each([
    ["another algorithm", { algorithm: "AES128" }, "valid value is AES256"],
    ["no algorithm", { algorithm: undefined }, "a valid encryption algorithm"],
    ["no key", { key: undefined }, "an appropriate secret key"],
    ["no hash", { "key-md5": undefined }, "calculated MD5"],
    ["another hash", { "key-md5": "AAAAAAAAAAAAAAAAAAAAAA==" }, "did not match the hash"],
    ["a short key", { key: "AAAA" }, "invalid for the specified algorithm"],
    ["a key that is no base64", { key: "?" }, "invalid for the specified algorithm"],
  ])("is refused with %s", (_, changes, text) => {
    const changed = Object.entries(changes).map(([field, value]) => [name + field, value]);
    const headers = headersOf({ ...key, ...Object.fromEntries(changed) });
    expect(() => parseCustomerKey(headers)).toThrow(text);
  });

  it("excludes another encryption", () => {
    const both = headersOf({ ...key, "x-amz-server-side-encryption": "AES256" });
    expect(() => parseCustomerKey(both)).toThrow("incompatible with the encryption method");
  });
});
