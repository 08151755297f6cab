import { env, exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const request = (path: string, init?: RequestInit) =>
  exports.default.fetch(new Request(`http://site.test${path}`, { redirect: "manual", ...init }));

const files: Record<string, string> = {
  "index.html": "<h1>Home</h1>",
  "guide/index.html": "<h1>Guide</h1>",
  "404.html": "<h1>Not here</h1>",
  "assets/app.0123abcd.js": "console.log('app');",
  "assets/lamp.png": "png",
};

async function gzip(content: string): Promise<ArrayBuffer> {
  const compressed = new Response(content).body?.pipeThrough(new CompressionStream("gzip"));
  return new Response(compressed).arrayBuffer();
}

beforeEach(async () => {
  await Promise.all(Object.entries(files).map(([key, content]) => env.SITE.put(key, content)));
});

afterEach(async () => {
  const { objects } = await env.SITE.list();
  if (objects.length > 0) await env.SITE.delete(objects.map(({ key }) => key));
});

describe("pages", () => {
  it.each([
    ["/", "index.html", "text/html; charset=utf-8", "no-cache"],
    ["/index.html", "index.html", "text/html; charset=utf-8", "no-cache"],
    ["/guide/", "guide/index.html", "text/html; charset=utf-8", "no-cache"],
    [
      "/assets/app.0123abcd.js",
      "assets/app.0123abcd.js",
      "text/javascript; charset=utf-8",
      "public, max-age=31536000, immutable",
    ],
    ["/assets/lamp.png", "assets/lamp.png", "image/png", "no-cache"],
  ])("%s serves %s", async (path, key, contentType, cacheControl) => {
    const response = await request(path);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(files[key]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": contentType,
      "cache-control": cacheControl,
      etag: (await env.SITE.head(key))?.httpEtag,
    });
    expect(response.headers.get("vary")).toBe(key.endsWith(".png") ? null : "accept-encoding");
  });

  it("have their stored headers", async () => {
    await env.SITE.put("feed", "<feed/>", {
      httpMetadata: { contentType: "application/atom+xml", cacheControl: "max-age=60" },
    });
    const { headers } = await request("/feed", { method: "HEAD" });
    expect(headers.get("content-type")).toBe("application/atom+xml");
    expect(headers.get("cache-control")).toBe("max-age=60");
  });

  it("redirect to the folder of the same name when there is no page", async () => {
    const response = await request("/guide?from=home");
    expect(response.status).toBe(308);
    expect(response.headers.get("location")).toBe("http://site.test/guide/?from=home");
  });

  it("answer 304 for the current etag", async () => {
    const first = await request("/");
    await first.text();
    const headers = { "if-none-match": first.headers.get("etag") as string };
    const second = await request("/", { headers });
    expect(second.status).toBe(304);
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    expect(second.headers.get("vary")).toBe("accept-encoding");

    await env.SITE.put("index.html", "<h1>New</h1>");
    expect((await request("/", { headers })).status).toBe(200);
  });

  it("support ranges and HEAD", async () => {
    const range = await request("/", { headers: { range: "bytes=0-3" } });
    expect(range.status).toBe(206);
    expect(await range.text()).toBe("<h1>");
    const head = await request("/", { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe("13");
    expect(await head.text()).toBe("");
  });
});

describe("precompressed pages", () => {
  it("are sent to clients that accept the encoding, with their own etag", async () => {
    const stored = await env.SITE.put("index.html.gz", await gzip("<h1>Home</h1>"));
    const init = { headers: { "accept-encoding": "br, gzip" } };
    const compressed = await request("/", { ...init, method: "HEAD" });
    expect(Object.fromEntries(compressed.headers)).toMatchObject({
      "content-encoding": "gzip",
      "content-length": String(stored.size),
      "content-type": "text/html; charset=utf-8",
      vary: "accept-encoding",
      etag: stored.httpEtag,
    });
    expect(await (await request("/", init)).text()).toBe("<h1>Home</h1>");

    const refused = await request("/", { headers: { "accept-encoding": "gzip;q=0" } });
    expect(refused.headers.get("content-encoding")).toBeNull();
    expect(refused.headers.get("etag")).not.toBe(stored.httpEtag);
    await refused.text();
  });
});

describe("an absent page", () => {
  it("is the 404 page of the site, whole and never a 304", async () => {
    const headers = { "if-none-match": "*", range: "bytes=0-1" };
    for (const path of ["/nowhere", "/guide/nowhere/", `/${"x".repeat(1025)}`]) {
      const response = await request(path, { headers });
      expect(response.status).toBe(404);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(await response.text()).toBe(files["404.html"]);
    }
  });

  it("is a plain text when the site has no 404 page or no pages", async () => {
    await env.SITE.delete("404.html");
    expect(await (await request("/nowhere")).text()).toBe("There is no such page.\n");
    await env.SITE.delete(Object.keys(files));
    expect(await (await request("/")).text()).toContain("npm run load");
  });
});

describe("a bad request", () => {
  it("with another method is refused", async () => {
    const response = await request("/", { method: "POST" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
  });

  it("with an address that is not UTF-8 is refused", async () => {
    expect((await request("/%ff")).status).toBe(400);
  });
});
