import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { planRead, serveObject } from "../src/http/serve-object.ts";

const current = { httpEtag: '"abc"', uploaded: new Date("2026-03-01T12:00:00Z"), size: 10 };

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
