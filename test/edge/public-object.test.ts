/** Objects of a public bucket through workerd, by HTTP, and beside Miniflare's public path for R2. */
import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bytesOf } from "../support/bytes.ts";
import { propertyRuns } from "../support/property-runs.ts";
import {
  startPublicBuckets,
  type Content,
  type PublicBuckets,
  type Received,
  type Sent,
} from "./support/public-buckets.ts";

const text = Buffer.from("0123456789");
const encoded = gzipSync("body {}");
const large = bytesOf(3 * 1024 * 1024 + 7);
const contents: Record<string, Content> = {
  text: {
    bytes: text,
    httpMetadata: {
      contentType: "text/plain",
      cacheControl: "max-age=5",
      contentDisposition: 'inline; filename="a.txt"',
      contentLanguage: "de",
      cacheExpiry: new Date("2030-01-01T00:00:00Z"),
    },
  },
  encoded: {
    bytes: encoded,
    httpMetadata: { contentType: "text/css", contentEncoding: "gzip" },
  },
  large: { bytes: large },
  empty: { bytes: new Uint8Array() },
  "é/日//a b+c%": { bytes: Buffer.from("key") },
  "/first": { bytes: Buffer.from("slash") },
};
const etag = '"781e5e245d69b566979b86e28d23f2c7"';
const other = '"0123456789abcdef0123456789abcdef"';

let buckets: PublicBuckets;
/** Of the object "text", as the responses have it. */
let modified: string;

beforeAll(async () => {
  buckets = await startPublicBuckets();
  for (const [key, content] of Object.entries(contents)) await buckets.put(key, content);
  modified = (await buckets.ours({ path: "/text" })).headers["last-modified"] as string;
});
afterAll(() => buckets.close());

const get = (path: string, headers: Record<string, string> = {}): Promise<Received> =>
  buckets.ours({ path, headers });

describe("an object", () => {
  it("has its content, its metadata and its validators", async () => {
    const { status, headers, body } = await get("/text");
    expect({ status, text: body.toString() }).toEqual({ status: 200, text: "0123456789" });
    // Some versions of workerd say how the connection ends.
    const { connection: _, ...fields } = headers;
    expect(fields).toEqual({
      "accept-ranges": "bytes",
      "cache-control": "max-age=5",
      "content-disposition": 'inline; filename="a.txt"',
      "content-language": "de",
      "content-length": "10",
      "content-type": "text/plain",
      etag,
      expires: "Tue, 01 Jan 2030 00:00:00 GMT",
      "last-modified": expect.stringMatching(/ GMT$/),
    });
  });

  it.each([
    ["/%C3%A9/%E6%97%A5//a%20b+c%25", 200, "key"],
    ["/é/日//a b+c%25".replaceAll(" ", "%20"), 200, "key"],
    ["/%2f%66irst", 200, "slash"],
    ["//first", 200, "slash"],
    ["/other/../text?version=1", 200, "0123456789"],
    ["/other/%2e%2E/text", 200, "0123456789"],
    ["/text/", 404, "There is no such object"],
    ["/a%20b+c%25", 404, "There is no such object"],
    ["/", 404, "There is no such object"],
    [`/${"k".repeat(1025)}`, 404, "There is no such object"],
    ["/%zz", 400, "not UTF-8 in percent-encoding"],
    ["/%ff", 400, "not UTF-8 in percent-encoding"],
  ])("at %s has the status %d", async (path, status, content) => {
    const sent = Buffer.from(path, "utf8").toString("latin1");
    const received = await get(sent);
    expect(received.status).toBe(status);
    expect(received.body.toString()).toContain(content);
  });

  it("is not written, and never listed", async () => {
    for (const method of ["PUT", "POST", "DELETE"]) {
      const { status, headers } = await buckets.ours({ method, path: "/text" });
      expect({ status, allow: headers.allow }).toEqual({
        status: 405,
        allow: "GET, HEAD, OPTIONS",
      });
    }
    expect((await get("/?list-type=2&prefix=t")).status).toBe(404);
  });

  it("that is stored in an encoding arrives as it is stored", async () => {
    for (const accepted of ["gzip", "br", "identity", ""]) {
      const { headers, body } = await get("/encoded", { "accept-encoding": accepted });
      expect(headers).toMatchObject({
        "content-encoding": "gzip",
        "content-length": String(encoded.length),
      });
      expect(body.equals(encoded)).toBe(true);
    }
  });
});

describe("a request with conditions", () => {
  const later = "Tue, 01 Jan 2030 00:00:00 GMT";
  const earlier = "Wed, 01 Jan 2020 00:00:00 GMT";
  const lastModified = "the time of the object";

  it.each<[Record<string, string>, number]>([
    [{ "if-none-match": etag }, 304],
    [{ "if-none-match": `W/${etag}` }, 304],
    [{ "if-none-match": "*" }, 304],
    [{ "if-none-match": other }, 200],
    [{ "if-none-match": `${other}, ${etag}` }, 304],
    [{ "if-none-match": other, "if-modified-since": later }, 200],
    [{ "if-modified-since": later }, 304],
    [{ "if-modified-since": lastModified }, 304],
    [{ "if-modified-since": earlier }, 200],
    [{ "if-modified-since": "yesterday" }, 200],
    [{ "if-match": etag }, 200],
    [{ "if-match": `W/${etag}` }, 412],
    [{ "if-match": other }, 412],
    [{ "if-match": etag, "if-none-match": etag }, 304],
    [{ "if-match": other, "if-none-match": etag }, 412],
    [{ "if-match": etag, "if-unmodified-since": earlier }, 200],
    [{ "if-unmodified-since": earlier }, 412],
    [{ "if-unmodified-since": lastModified }, 200],
    [{ "if-unmodified-since": later }, 200],
    [{ "if-match": '"open' }, 400],
    [{ "if-none-match": etag.slice(1, -1) }, 304],
    [{ "if-match": etag, range: "bytes=1-2" }, 206],
    [{ "if-match": other, range: "bytes=1-2" }, 412],
    [{ "if-none-match": etag, range: "bytes=99-" }, 304],
    [{ "if-range": etag, range: "bytes=1-2" }, 206],
    [{ "if-range": other, range: "bytes=1-2" }, 200],
    [{ "if-range": `W/${etag}`, range: "bytes=1-2" }, 200],
    [{ "if-range": lastModified, range: "bytes=1-2" }, 206],
    [{ "if-range": earlier, range: "bytes=99-" }, 200],
    [{ "if-range": other }, 200],
  ])("%o has the status %d, for HEAD too", async (given, status) => {
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        value === lastModified ? modified : value,
      ]),
    );
    const received = await get("/text", headers);
    expect(received.status).toBe(status);
    const content = { 200: "0123456789", 206: "12", 400: "Unclosed double quote for Etag\n" };
    expect(received.body.toString()).toBe({ 304: "", 412: "", ...content }[status]);
    const head = await buckets.ours({ method: "HEAD", path: "/text", headers });
    expect({ status: head.status, length: head.body.length }).toEqual({ status, length: 0 });
    // The runtime sends no length of an empty body with HEAD.
    expect(received.headers).toMatchObject(head.headers);
  });

  it("that fails has the validators, and no metadata to keep but with 304", async () => {
    const unchanged = await get("/text", { "if-none-match": etag });
    expect(unchanged.headers).toMatchObject({ etag, "cache-control": "max-age=5" });
    const failing: Record<string, string>[] = [{ "if-match": other }, { range: "bytes=10-" }];
    for (const headers of failing) {
      const failed = await get("/text", headers);
      expect(failed.headers).toMatchObject({ etag, "content-length": "0" });
      expect(failed.headers["cache-control"]).toBeUndefined();
    }
  });

  it("and no object has the status 404", async () => {
    for (const name of ["if-match", "if-none-match"]) {
      expect((await get("/none", { [name]: "*" })).status).toBe(404);
    }
    expect((await get("/none", { range: "bytes=0-" })).status).toBe(404);
  });
});

/** Ranges, valid and not, for contents of some bytes. */
const rangeHeader = fc.oneof(
  fc.tuple(fc.nat(12), fc.nat(12)).map(([first, last]) => `bytes=${first}-${last}`),
  fc.nat(12).map((first) => `bytes=${first}-`),
  fc.nat(12).map((suffix) => `bytes=-${suffix}`),
  fc.constantFrom("bytes=", "bytes=-", "bytes=a-b", "bytes=0-1,3-4", "items=0-1", "", "0-1"),
  fc.constantFrom("bytes=0-18446744073709551616", "bytes=99999999999999999999-", "bytes=-1e3"),
);

describe("a range", () => {
  it.each([
    ["bytes=2-4", 206, "bytes 2-4/10", /^234$/],
    ["bytes=7-", 206, "bytes 7-9/10", /^789$/],
    ["bytes=-2", 206, "bytes 8-9/10", /^89$/],
    ["bytes=0-", 206, "bytes 0-9/10", /^0123456789$/],
    ["bytes=5-99", 206, "bytes 5-9/10", /^56789$/],
    ["bytes=10-", 416, "bytes */10", /^$/],
    ["bytes=-0", 416, "bytes */10", /^$/],
    ["bytes=4-2", 400, undefined, /is not one range/],
    ["bytes=0-1,4-5", 400, undefined, /is not one range/],
    ["lines=0-1", 400, undefined, /is not one range/],
  ])("%s has the status %d and Content-Range %s", async (range, status, contentRange, content) => {
    const { headers, body, ...received } = await get("/text", { range });
    expect(received.status).toBe(status);
    expect(headers["content-range"]).toBe(contentRange);
    expect(headers["content-length"]).toBe(String(body.length));
    expect(body.toString()).toMatch(content);
  });

  it("of a file has the bytes of the file", async () => {
    const { headers, body } = await get("/large", { range: "bytes=65530-2000000" });
    expect(headers["content-length"]).toBe(String(2000000 - 65530 + 1));
    expect(body.equals(large.subarray(65530, 2000001))).toBe(true);
    expect((await get("/large")).body.equals(large)).toBe(true);
  });

  it("is of one version when the object is replaced during the request", async () => {
    await buckets.put("short-lived", { bytes: Buffer.from("0123456789") });
    const headers = { range: "bytes=-3", "x-replaced": "" };
    const received = await get("/short-lived", headers);
    expect(received.body.toString()).toBe("ced");
    expect(received.headers).toMatchObject({ "content-range": "bytes 5-7/8" });
    expect(received.headers.etag).toBe((await get("/short-lived")).headers.etag);
  });

  it("is the range of Miniflare's public path", async () => {
    const sent = fc.record({
      method: fc.constantFrom("GET", "HEAD"),
      path: fc.constantFrom("/text", "/empty"),
      headers: rangeHeader.map((range) => ({ range })),
    });
    const runs = { numRuns: propertyRuns({ few: 150, all: 1500 }) };
    await fc.assert(
      fc.asyncProperty(sent, async (each) => {
        const [ours, miniflares] = await both(each);
        expect(ours).toEqual(miniflares);
      }),
      runs,
    );
  });
});

/** The responses of both, without the headers that are Miniflare's own. */
async function both(sent: Sent): Promise<Comparable[]> {
  const received = await Promise.all([buckets.ours(sent), buckets.miniflares(sent)]);
  return received.map(({ status, headers, body }) => {
    if (status >= 400) return { status };
    const kept = Object.entries(headers).filter(
      ([name]) => name !== "last-modified" && !name.startsWith("access-control-"),
    );
    return { status, headers: Object.fromEntries(kept), sha256: hash("sha256", body) };
  });
}

/** Of a failure only the status. */
interface Comparable {
  readonly status: number;
  readonly headers?: object;
  readonly sha256?: string;
}

describe("beside Miniflare's public path", () => {
  const sent = ["/text", "/large", "/empty", "/%2Ffirst", "/%C3%A9/%E6%97%A5//a%20b+c%25"].flatMap(
    (path) =>
      ["GET", "HEAD"].flatMap((method) =>
        ["if-none-match", "x-none"].map((name): Sent => {
          return { method, path, headers: { [name]: other } };
        }),
      ),
  );

  it.each(sent)("$method $path $headers is equal", async (each) => {
    const [ours, miniflares] = await both(each);
    expect(ours).toMatchObject({ ...miniflares, status: 200 });
  });

  // An unexpected agreement fails too: then the entry goes.
  it.each<[string, Sent, number, number]>([
    ["a method is not allowed", { method: "PUT", path: "/text" }, 405, 401],
    ["an escape is not valid", { path: "/%zz" }, 400, 404],
    [
      "If-Range counts",
      { path: "/text", headers: { range: "bytes=1-2", "if-range": other } },
      200,
      206,
    ],
  ])("%s: differs", async (_, each, own, miniflares) => {
    const received = await both(each);
    expect(received.map(({ status }) => status)).toEqual([own, miniflares]);
  });
});

async function allowedOrigin(sent: Sent): Promise<string | undefined> {
  return (await buckets.ours(sent)).headers["access-control-allow-origin"];
}

describe("CORS rules", () => {
  const origin = "https://page.test";
  const cors = `<CORSConfiguration><CORSRule><AllowedOrigin>${origin}</AllowedOrigin>
    <AllowedMethod>GET</AllowedMethod><AllowedHeader>x-*</AllowedHeader>
    <ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>60</MaxAgeSeconds></CORSRule></CORSConfiguration>`;
  const preflight = (own: Record<string, string> = {}): Promise<Received> =>
    buckets.ours({
      method: "OPTIONS",
      path: "/text",
      headers: { origin, "access-control-request-method": "GET", ...own },
    });

  it("are those of the configuration, until a request puts others", async () => {
    const configured: Sent = { path: "/text", headers: { origin: "http://configured" } };
    const page: Sent = { path: "/text", headers: { origin } };
    expect(await allowedOrigin(configured)).toBe("http://configured");
    expect(await allowedOrigin(page)).toBeUndefined();
    expect((await preflight()).status).toBe(403);

    const put = await buckets.s3.send({ method: "PUT", target: "/photos?cors", body: cors });
    expect(put.status).toBe(200);
    expect(await allowedOrigin(configured)).toBeUndefined();
    const { headers, body } = await buckets.ours(page);
    expect(body.equals(text)).toBe(true);
    expect(headers).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "ETag",
      vary: expect.stringContaining("Origin"),
    });
    // A page reads a 404, too. A method needs a rule.
    expect(await allowedOrigin({ path: "/none", headers: { origin } })).toBe(origin);
    expect(await allowedOrigin({ ...page, method: "HEAD" })).toBeUndefined();

    const allowed = await preflight({ "access-control-request-headers": "X-Name, range" });
    expect(allowed.status).toBe(403);
    const granted = await preflight({ "access-control-request-headers": "X-Name" });
    expect(granted.status).toBe(204);
    expect(granted.headers).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET",
      "access-control-allow-headers": "x-name",
      "access-control-max-age": "60",
    });
    expect((await buckets.ours({ method: "OPTIONS", path: "/text" })).status).toBe(400);

    await buckets.s3.send({ method: "DELETE", target: "/photos?cors" });
    expect(await allowedOrigin(page)).toBeUndefined();
  });
});
