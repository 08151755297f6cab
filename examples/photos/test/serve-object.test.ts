import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import {
  checkPreconditions,
  contentRange,
  isConditional,
  planRead,
  rangeApplies,
  resolveRange,
  serveObject,
} from "../../http/serve-object.ts";

const current = { httpEtag: '"abc"', uploaded: new Date("2026-03-01T12:00:00.700Z"), size: 10 };

describe("planRead()", () => {
  it.each([
    ["GET", {}, { status: 200 }],
    ["GET", { range: "bytes=0-3" }, { status: 206, range: { offset: 0, length: 4 } }],
    ["GET", { range: "bytes=10-" }, { status: 416, range: "unsatisfiable" }],
    ["GET", { range: "lines=1-2" }, { status: 200 }],
    // A range is defined only for GET.
    ["HEAD", { range: "bytes=10-" }, { status: 200 }],
    // Conditions are evaluated before ranges.
    ["GET", { range: "bytes=10-", "if-none-match": '"abc"' }, { status: 304 }],
    ["GET", { range: "bytes=0-3", "if-match": '"x"' }, { status: 412 }],
    ["GET", { range: "bytes=10-", "if-range": '"x"' }, { status: 200 }],
  ])("plans %s with %o", (method, headers, plan) => {
    expect(planRead({ method, headers: new Headers(headers) }, current)).toEqual(plan);
  });
});

describe("serveObject()", () => {
  it("starts again when the object is replaced after head()", async () => {
    await env.PHOTOS.put("replaced", "0123456789");
    let replaced = false;
    const bucket = {
      async head(key: string) {
        const seen = await env.PHOTOS.head(key);
        if (!replaced) await env.PHOTOS.put(key, "abc");
        replaced = true;
        return seen;
      },
      get: (key: string, options: StoreGetOptions) => env.PHOTOS.get(key, options),
    } as StoreBucket;
    const request = new Request("http://photos.test/", { headers: { range: "bytes=1-" } });
    const response = await serveObject(bucket, "replaced", request, () => {});
    expect(response?.headers.get("content-range")).toBe("bytes 1-2/3");
    expect(await response?.text()).toBe("bc");
    await env.PHOTOS.delete("replaced");
  });
});

const before = "Sun, 01 Mar 2026 11:59:59 GMT";
const then = "Sun, 01 Mar 2026 12:00:00 GMT";
const after = "Sun, 01 Mar 2026 12:00:01 GMT";

describe("checkPreconditions()", () => {
  it.each([
    [{}, "proceed", "proceed"],
    [{ "if-match": '"abc"' }, "proceed", "proceed"],
    [{ "if-match": '"x", "abc"' }, "proceed", "proceed"],
    [{ "if-match": "*" }, "proceed", "proceed"],
    [{ "if-match": '"x"' }, "failed", "failed"],
    // A weak tag never matches in a strong comparison.
    [{ "if-match": 'W/"abc"' }, "failed", "failed"],
    [{ "if-none-match": '"abc"' }, "not modified", "failed"],
    [{ "if-none-match": 'W/"abc"' }, "not modified", "failed"],
    [{ "if-none-match": "*" }, "not modified", "failed"],
    [{ "if-none-match": '"x"' }, "proceed", "proceed"],
    [{ "if-none-match": "abc" }, "proceed", "proceed"],
    [{ "if-modified-since": before }, "proceed", "proceed"],
    [{ "if-modified-since": then }, "not modified", "proceed"],
    [{ "if-modified-since": after }, "not modified", "proceed"],
    [{ "if-modified-since": "yesterday" }, "proceed", "proceed"],
    [{ "if-unmodified-since": before }, "failed", "failed"],
    [{ "if-unmodified-since": then }, "proceed", "proceed"],
    // Tags take precedence over dates.
    [{ "if-none-match": '"x"', "if-modified-since": after }, "proceed", "proceed"],
    [{ "if-match": '"abc"', "if-unmodified-since": before }, "proceed", "proceed"],
    [{ "if-match": '"x"', "if-none-match": '"abc"' }, "failed", "failed"],
  ])("evaluates %o", (headers, reading, writing) => {
    expect(checkPreconditions("GET", new Headers(headers), current)).toBe(reading);
    expect(checkPreconditions("HEAD", new Headers(headers), current)).toBe(reading);
    expect(checkPreconditions("PUT", new Headers(headers), current)).toBe(writing);
  });

  it("matches no tag and no date when there is no object", () => {
    const rows = [
      [{ "if-match": "*" }, "failed"],
      [{ "if-none-match": "*" }, "proceed"],
      [{ "if-unmodified-since": before }, "proceed"],
    ] as const;
    for (const [headers, verdict] of rows) {
      expect(checkPreconditions("PUT", new Headers(headers), null)).toBe(verdict);
    }
  });
});

describe("isConditional()", () => {
  it("is true for the conditional headers, and false for If-Range", () => {
    expect(isConditional(new Headers({ "if-none-match": "*" }))).toBe(true);
    expect(isConditional(new Headers({ "if-range": '"abc"' }))).toBe(false);
  });
});

describe("rangeApplies()", () => {
  it.each([
    ['"abc"', true],
    ['"x"', false],
    ['W/"abc"', false],
    [then, true],
    [before, false],
    [after, false],
  ])("evaluates If-Range: %s", (ifRange, applies) => {
    expect(rangeApplies(new Headers({ "if-range": ifRange }), current)).toBe(applies);
  });
});

describe("resolveRange()", () => {
  it.each([
    ["bytes=0-3", { offset: 0, length: 4 }],
    ["bytes=4-", { offset: 4, length: 6 }],
    ["bytes=-3", { offset: 7, length: 3 }],
    ["bytes=9-9", { offset: 9, length: 1 }],
    ["BYTES=0-0", { offset: 0, length: 1 }],
    ["bytes=5-100", { offset: 5, length: 5 }],
    ["bytes=-100", { offset: 0, length: 10 }],
    ["bytes=0-99999999999999999999", { offset: 0, length: 10 }],
  ])("resolves %s of ten bytes", (header, range) => {
    expect(resolveRange(header, 10)).toEqual(range);
  });

  it.each(["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-"])(
    "cannot satisfy %s of ten bytes",
    (header) => {
      expect(resolveRange(header, 10)).toBe("unsatisfiable");
    },
  );

  it.each(["bytes=-", "bytes=", "bytes", "items=0-1", "bytes=3-2", "bytes=a-b", "bytes=0-1,3-4"])(
    "resolves %s to the whole content",
    (header) => {
      expect(resolveRange(header, 10)).toBe("whole");
    },
  );

  it("resolves only a suffix of an empty content", () => {
    expect(resolveRange("bytes=0-", 0)).toBe("unsatisfiable");
    expect(resolveRange("bytes=-5", 0)).toBe("whole");
  });
});

describe("contentRange()", () => {
  it("contains the last byte and the size", () => {
    expect(contentRange({ offset: 4, length: 6 }, 10)).toBe("bytes 4-9/10");
    expect(contentRange("unsatisfiable", 10)).toBe("bytes */10");
  });
});
