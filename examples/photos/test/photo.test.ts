import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { contentTypeOf } from "../src/content-type.ts";
import { cacheControl, photoPath, writePhoto } from "../src/photo.ts";

const request = (path: string, init?: RequestInit) =>
  exports.default.fetch(new Request(`http://photos.test${path}`, init));

const tom = "/photos/cats/tom.png";
const body = "0123456789";
let etag: string;

beforeEach(async () => {
  const stored = await env.PHOTOS.put("cats/tom.png", body, {
    httpMetadata: { contentType: "image/png" },
  });
  etag = stored.httpEtag;
});

describe("PUT /photos/<key>", () => {
  it("answers 201 with the address of a new photo, and 200 for a replaced photo", async () => {
    const created = await request("/photos/new/a%20b.jpg", {
      method: "PUT",
      body: new TextEncoder().encode("jpeg"),
    });
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe("/photos/new/a%20b.jpg");
    expect(await created.json()).toMatchObject({
      key: "new/a b.jpg",
      size: 4,
      contentType: "image/jpeg",
    });
    const replaced = await request("/photos/new/a%20b.jpg", { method: "PUT", body: "jpeg 2" });
    expect(replaced.status).toBe(200);
    expect(replaced.headers.get("etag")).not.toBe(created.headers.get("etag"));
    await env.PHOTOS.delete("new/a b.jpg");
  });

  it("keeps the content type of the request", async () => {
    const init = { method: "PUT", body: "x", headers: { "content-type": "image/webp" } };
    await (await request("/photos/typed", init)).text();
    expect((await request("/photos/typed")).headers.get("content-type")).toBe("image/webp");
    await env.PHOTOS.delete("typed");
  });

  it("stores only a new photo with If-None-Match: *", async () => {
    const init = { method: "PUT", body: "other", headers: { "if-none-match": "*" } };
    expect((await request(tom, init)).status).toBe(412);
    expect(await (await request(tom)).text()).toBe(body);
    expect((await request("/photos/cats/only.png", init)).status).toBe(201);
    await env.PHOTOS.delete("cats/only.png");
  });

  it("replaces a photo for one of many concurrent writers", async () => {
    // All writers have read the metadata before the first of them writes.
    const writers = 8;
    const { promise: allHeads, resolve: release } = Promise.withResolvers<void>();
    let heads = 0;
    const bucket = {
      async head(key: string) {
        const seen = await env.PHOTOS.head(key);
        heads += 1;
        if (heads === writers) release();
        await allHeads;
        return seen;
      },
      put: (key: string, value: StoreValue, options: StorePutOptions) =>
        env.PHOTOS.put(key, value, options),
    } as StoreBucket;
    const answers = Array.from({ length: writers }, (_, index) => {
      const init = { method: "PUT", body: `writer ${index}`, headers: { "if-match": etag } };
      return writePhoto(bucket, "cats/tom.png", new Request("http://photos.test/", init));
    });
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(writers - 1);
  });

  it("requires a length", async () => {
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    const written = writer.write(new TextEncoder().encode("x")).then(() => writer.close());
    const response = await request("/photos/stream.png", { method: "PUT", body: readable });
    expect(response.status).toBe(411);
    await Promise.allSettled([written]);
    expect(await env.PHOTOS.head("stream.png")).toBeNull();
  });

  it("refuses a key that is too long, and an address that is not UTF-8", async () => {
    const long = await request(`/photos/${"x".repeat(1025)}`, { method: "PUT", body: "x" });
    expect(long.status).toBe(400);
    expect((await request("/photos/%ff", { method: "PUT", body: "x" })).status).toBe(400);
  });
});

describe("GET /photos/<key>", () => {
  it("serves a photo with the headers for caches", async () => {
    const response = await request(tom);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "accept-ranges": "bytes",
      "cache-control": "no-cache",
      "content-length": "10",
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      etag,
    });
    expect(Date.parse(response.headers.get("last-modified") as string)).not.toBeNaN();
    expect(await response.text()).toBe(body);
  });

  it("serves a range", async () => {
    const response = await request(tom, { headers: { range: "bytes=2-5" } });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe("bytes 2-5/10");
    expect(response.headers.get("content-length")).toBe("4");
    expect(await response.text()).toBe("2345");
  });

  it("answers 416 with the size of the photo for an unsatisfiable range", async () => {
    const response = await request(tom, { headers: { range: "bytes=10-" } });
    expect(response.status).toBe(416);
    expect(response.headers.get("content-range")).toBe("bytes */10");
  });

  it("serves the whole photo when If-Range names another etag", async () => {
    const range = "bytes=-1";
    const same = await request(tom, { headers: { range, "if-range": etag } });
    expect(same.status).toBe(206);
    const other = await request(tom, { headers: { range, "if-range": '"old"' } });
    expect(other.status).toBe(200);
  });

  it("answers 304 without content for the current etag or date", async () => {
    const first = await request(tom);
    const lastModified = first.headers.get("last-modified") as string;
    await first.text();
    for (const headers of [{ "if-none-match": etag }, { "if-modified-since": lastModified }]) {
      const response = await request(tom, { headers });
      expect(response.status).toBe(304);
      expect(response.headers.get("etag")).toBe(etag);
      expect(response.headers.get("cache-control")).toBe("no-cache");
      expect(await response.text()).toBe("");
    }
  });

  it("answers 412 when If-Match names another etag", async () => {
    const headers = { "if-match": '"old"' };
    expect((await request(tom, { headers })).status).toBe(412);
  });

  it("is immutable at an address with the version", async () => {
    const response = await request(`/photos/cats/tom.png?v=${etag.slice(1, -1)}`);
    expect(response.headers.get("cache-control")).toContain("immutable");
    await response.text();
  });

  it("answers 404 for an absent photo and for another path", async () => {
    expect((await request("/photos/absent.png")).status).toBe(404);
    expect((await request("/nowhere")).status).toBe(404);
  });
});

describe("HEAD /photos/<key>", () => {
  it("returns the headers of GET without content", async () => {
    const response = await request(tom, {
      method: "HEAD",
      headers: { range: "bytes=0-1" },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-length")).toBe("10");
    expect(response.headers.get("etag")).toBe(etag);
    expect(await response.text()).toBe("");
  });
});

describe("DELETE /photos/<key>", () => {
  it("deletes only the photo with the etag of If-Match", async () => {
    const old = await request(tom, { method: "DELETE", headers: { "if-match": '"old"' } });
    expect(old.status).toBe(412);
    const current = await request(tom, { method: "DELETE", headers: { "if-match": etag } });
    expect(current.status).toBe(204);
    expect((await request(tom, { method: "DELETE" })).status).toBe(404);
  });
});

describe("other methods", () => {
  it("are refused with a list in Allow", async () => {
    const photo = await request(tom, { method: "POST" });
    expect(photo.status).toBe(405);
    expect(photo.headers.get("allow")).toBe("GET, HEAD, PUT, DELETE");
    expect((await request("/photos", { method: "PUT", body: "" })).status).toBe(405);
  });
});

describe("contentTypeOf()", () => {
  it.each([
    ["a.png", "image/webp", "image/webp"],
    ["a.PNG", null, "image/png"],
    ["a.jpg", "application/octet-stream", "image/jpeg"],
    ["a.jpg", "application/x-www-form-urlencoded", "image/jpeg"],
    ["folder.png/a", null, "application/octet-stream"],
    ["a.unknown", null, "application/octet-stream"],
  ])("returns the type of %s, sent as %s", (key, sent, type) => {
    expect(contentTypeOf(key, sent)).toBe(type);
  });
});

describe("cacheControl()", () => {
  it("is immutable only for the current version", () => {
    expect(cacheControl("abc", "abc")).toContain("immutable");
    expect(cacheControl("old", "abc")).toBe("no-cache");
    expect(cacheControl(null, "abc")).toBe("no-cache");
  });
});

describe("photoPath()", () => {
  it("encodes every character except the slash", () => {
    expect(photoPath("a b/ü?#.png")).toBe("/photos/a%20b/%C3%BC%3F%23.png");
  });
});
