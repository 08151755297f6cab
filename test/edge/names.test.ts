/** Requests to a dev server by name: what the script sees, and what the client gets. */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { entranceHeaders } from "../../src/edge/core/entrance.ts";
import { readMembers } from "../../src/edge/node/members.ts";
import { sendRaw, upgradeHeaders } from "../faults/support/raw-http.ts";
import { waitOptions } from "../support/dev-process.ts";
import { ask, at, startEdge, suiteProject, type EdgeDev } from "./support/dev-edge.ts";

/** Answers with what it sees. Headers of the answer come from the query. */
const script = `export default {
  scheduled() {},
  async fetch(request, env) {
    const url = new URL(request.url);
    if (request.headers.get("upgrade") === "websocket") {
      const [client, server] = Object.values(new WebSocketPair());
      server.accept();
      server.addEventListener("message", ({ data }) => server.send(request.url + " " + data));
      return new Response(null, { status: 101, webSocket: client });
    }
    if (url.pathname === "/echo") {
      return new Response(request.body.pipeThrough(new IdentityTransformStream()));
    }
    if (url.pathname === "/put") await env.CDN.put(url.searchParams.get("key"), request.body);
    const headers = new Headers([...url.searchParams]);
    const seen = { url: request.url, headers: Object.fromEntries(request.headers), colo: request.cf?.colo };
    return Response.json(seen, { headers });
  },
};`;

interface Seen {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly colo: string;
}

const common = { main: "index.js", compatibility_date: "2026-08-01" };
const own = "photos.example.com.localhost";

function project(configuration: object): string {
  return suiteProject({
    "index.js": script,
    "wrangler.json": { name: "photos", ...common, ...configuration },
  });
}

async function seenAt(url: string, headers: Record<string, string> = {}): Promise<Seen> {
  const { status, body } = await ask(url, { headers });
  expect({ status, body }).toMatchObject({ status: 200 });
  return JSON.parse(body) as Seen;
}

/** `at()` as `Origin` has it. */
function originAt(dev: EdgeDev, name: string): string {
  return at(dev, name, "");
}

describe("a dev server with routes", () => {
  let folder: string;
  let dev: EdgeDev;

  beforeAll(async () => {
    folder = project({
      routes: ["photos.example.com/*", "*.api.example.com/v1/*"],
      edge: { country: "NZ", hosts: ["tunnel.example"] },
    });
    dev = await startEdge(folder, { logRequests: true });
    return async () => {
      await dev.stop();
      rmSync(folder, { recursive: true });
    };
  });

  it.each([own, "photos.example.com", "PHOTOS.example.com."])(
    "leads http://%s to the script, which sees the URL without suffix and port",
    async (name) => {
      const seen = await seenAt(at(dev, name, "/cat%20a.jpg?size=1"));
      expect(seen.url).toBe("http://photos.example.com/cat%20a.jpg?size=1");
      expect(seen.headers["host"]).toBe("photos.example.com");
    },
  );

  it("leads names of a wildcard to the script, at the paths of the route", async () => {
    const name = "eu.api.example.com.localhost";
    expect((await seenAt(at(dev, name, "/v1/list"))).url).toBe("http://eu.api.example.com/v1/list");
    const other = await ask(at(dev, name, "/v2/list"));
    expect(other.status).toBe(404);
    expect(other.body).toContain("No zone has eu.api.example.com");
  });

  it("sets the headers of the platform", async () => {
    const { headers, colo } = await seenAt(at(dev, own), {
      "x-forwarded-for": "192.0.2.1",
      "cf-connecting-ip": "192.0.2.2",
    });
    expect(headers).toMatchObject({
      "cf-connecting-ip": "127.0.0.1",
      "x-real-ip": "127.0.0.1",
      "x-forwarded-for": "192.0.2.1, 127.0.0.1",
      "x-forwarded-proto": "http",
      "cf-visitor": '{"scheme":"http"}',
      "cf-ipcountry": "NZ",
      "cf-ray": expect.stringMatching(/^[0-9a-f]{16}-[A-Z]{3}$/) as string,
    });
    expect(Object.keys(headers).filter((name) => /^(?:ledge|mf)-/.test(name))).toEqual([]);
    expect(colo).toBe((await seenAt(dev.url)).colo);
  });

  const query = new URLSearchParams([
    ["location", "https://photos.example.com/next?a=b"],
    ["access-control-allow-origin", "http://app.example.com"],
    ["link", "<https://eu.api.example.com/v1/x>, <https://elsewhere.example/>"],
    ["set-cookie", "a=1; Domain=photos.example.com; Path=/"],
    ["set-cookie", "b=2; Path=/; domain=.example.com"],
    ["set-cookie", "c=3; Domain=elsewhere.example"],
    ["set-cookie", "d=4"],
  ]);

  it("translates URLs and cookies between the browser and the script", async () => {
    const [app, api] = ["app", "eu.api"].map((name) =>
      originAt(dev, `${name}.example.com.localhost`),
    );
    const { headers, body } = await ask(at(dev, own, `/?${query}`), {
      headers: { origin: app as string, referer: `${api}/v1/page` },
    });
    expect((JSON.parse(body) as Seen).headers).toMatchObject({
      origin: "http://app.example.com",
      referer: "http://eu.api.example.com/v1/page",
    });
    expect(headers).toMatchObject({
      location: at(dev, own, "/next?a=b"),
      // A name that the request has named, and a name with a route.
      "access-control-allow-origin": app,
      link: `<${api}/v1/x>, <https://elsewhere.example/>`,
      "set-cookie": [
        "a=1; Domain=photos.example.com.localhost; Path=/",
        "b=2; Path=/; domain=example.com.localhost",
        "c=3; Domain=elsewhere.example",
        "d=4",
      ],
    });
  });

  it("translates only the port for the real name", async () => {
    const { headers } = await ask(at(dev, "photos.example.com", `/?${query}`));
    expect(headers.location).toBe(at(dev, "photos.example.com", "/next?a=b"));
    expect(headers["set-cookie"]?.[0]).toBe("a=1; Domain=photos.example.com; Path=/");
  });

  it.each(["localhost", "127.0.0.1", "[::1]", "tenant.localhost", "tunnel.example"])(
    "leads http://%s to the script with the host of the first route, as wrangler does",
    async (name) => {
      const url = at(dev, name, `/x?${query}`);
      const { body, headers } = await ask(url, { headers: { origin: new URL(url).origin } });
      const seen = JSON.parse(body) as Seen;
      expect(seen.url).toBe(`http://photos.example.com/x?${query}`);
      expect(seen.headers).toMatchObject({
        host: "photos.example.com",
        origin: "http://photos.example.com",
        "mf-original-hostname": "photos.example.com",
      });
      expect(seen.headers).not.toHaveProperty("cf-ray");
      expect(headers.location).toBe(at(dev, name, "/next?a=b"));
      expect(headers["set-cookie"]?.[0]).toBe(`a=1; Domain=${name}; Path=/`);
    },
  );

  it("refuses a host that no name explains, and names the setting", async () => {
    const { status, body } = await ask(at(dev, "rebound.example"));
    expect(status).toBe(403);
    expect(body).toContain('the host "rebound.example" are not answered');
    expect(body).toContain("add the host to hosts of [edge]");
  });

  it("has Miniflare's tools at the address of the script only", async () => {
    const explorer = "/cdn-cgi/local/explorer";
    expect((await ask(dev.url + explorer)).status).toBe(200);
    expect((await ask(at(dev, own, explorer))).status).toBe(403);
    expect((await ask(`${dev.url}/cdn-cgi/local/scheduled`)).body).toBe("ok");
  });

  it("answers no request that does not come from wrangler's proxy with its token", async () => {
    const headers = {
      "ledge-edge-proxy": "token {}",
      "ledge-entrance": "token http://a.example 0",
    };
    // The proxy replaces the first; the second is ignored.
    expect((await seenAt(at(dev, own), headers)).url).toBe("http://photos.example.com/");
  });

  it("believes the origin of an entrance by the token of the member", async () => {
    const [member] = readMembers(join(folder, ".wrangler/state"));
    const through = (origin: string, hops = 0) => entranceHeaders(member as never, origin, hops);
    const { headers, body } = await ask(`${dev.url}/x?${query}`, {
      headers: through("https://photos.example.com:8443"),
    });
    const seen = JSON.parse(body) as Seen;
    expect(seen.url).toBe(`https://photos.example.com/x?${query}`);
    expect(seen.headers).toMatchObject({
      host: "photos.example.com",
      "x-forwarded-proto": "https",
    });
    expect(headers.location).toBe("https://photos.example.com:8443/next?a=b");
    const tool = await ask(`${dev.url}/cdn-cgi/local/explorer`, {
      headers: through(`http://${own}`),
    });
    expect(tool.status).toBe(404);
    const unknown = await ask(dev.url, { headers: through("https://rebound.example") });
    expect(unknown.status).toBe(403);
  });

  it("passes streams on, in both directions at once", async () => {
    const url = new URL(at(dev, own, "/echo"));
    const sent = request({
      host: "127.0.0.1",
      port: url.port,
      path: "/echo",
      method: "POST",
      headers: { host: url.host },
    });
    const responding = once(sent, "response");
    sent.write("first");
    const [response] = (await responding) as [IncomingMessage];
    const [chunk] = (await once(response, "data")) as [Buffer];
    expect(chunk.toString()).toBe("first");
    sent.end("last");
    expect(await text(response)).toBe("last");
  });

  it("answers a request with Expect: 100-continue", async () => {
    const headers = { expect: "100-continue", "content-length": "4" };
    const { body } = await ask(at(dev, own, "/echo"), { method: "POST", headers, body: "body" });
    expect(body).toBe("body");
  });

  it("passes WebSockets on", async () => {
    const url = new URL(at(dev, own, "/socket"));
    const sent = request({
      host: "127.0.0.1",
      port: url.port,
      path: "/socket",
      headers: {
        host: url.host,
        connection: "upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": Buffer.alloc(16).toString("base64"),
      },
    });
    sent.end();
    const [response, socket] = (await once(sent, "upgrade")) as [IncomingMessage, Socket];
    onTestFinished(() => void socket.destroy());
    expect(response.statusCode).toBe(101);
    // A masked frame of text, by a mask of zeros: "hi".
    socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
    const [frame] = (await once(socket, "data")) as [Buffer];
    expect(frame.subarray(2).toString()).toBe("http://photos.example.com/socket hi");
  });

  it("says the way of each request for a name, with --log-requests", async () => {
    await ask(at(dev, own, "/way"));
    const line =
      /^GET http:\/\/photos\.example\.com\/way → photos\.example\.com\/\* → script photos {2}200 \(\d+ ms\)$/;
    await vi.waitFor(
      () => expect(dev.lines).toContainEqual(expect.stringMatching(line)),
      waitOptions,
    );
    expect(dev.lines.join("\n")).not.toContain("http://localhost/");
  });

  it("shows links in the summary", () => {
    expect(dev.lines.join("\n")).toContain(`  names    ${at(dev, own)}\n`);
  });
});

describe("a dev server with zones, public buckets and origins", () => {
  let dev: EdgeDev;
  let originPort: number;

  beforeAll(async () => {
    const origin = createServer((received, response) => {
      response.setHeader("location", `https://${received.headers.host}/moved`);
      response.end(JSON.stringify({ url: received.url, headers: received.headers }));
    });
    await once(origin.listen(0, "127.0.0.1"), "listening");
    originPort = (origin.address() as AddressInfo).port;
    const folder = project({
      store_buckets: [
        { binding: "CDN", bucket_name: "cdn", public: true, domains: ["cdn.example.com"] },
        { binding: "PRIVATE", bucket_name: "private" },
      ],
      dns: {
        zones: [
          {
            name: "example.com",
            records: [
              { type: "A", name: "app", content: "127.0.0.1", proxied: true },
              { type: "A", name: "plain", content: "127.0.0.1", proxied: false },
            ],
          },
        ],
      },
      edge: { origins: [{ host: "app.example.com", port: originPort }] },
    });
    dev = await startEdge(folder, { dns: undefined });
    await ask(`${dev.url}/put?key=a%20b/c.txt`, { method: "PUT", body: "object" });
    return async () => {
      origin.close();
      await dev.stop();
      rmSync(folder, { recursive: true });
    };
  });

  it.each(["cdn.example.com.localhost", "cdn.example.com", "cdn.store.localhost"])(
    "serves the objects of a public bucket at http://%s",
    async (name) => {
      expect(await ask(at(dev, name, "/a%20b/c.txt"))).toMatchObject({
        status: 200,
        body: "object",
      });
      expect((await ask(at(dev, name, "/none"))).status).toBe(404);
    },
  );

  it("serves public buckets at the script's address, and no other buckets", async () => {
    const path = "/cdn-cgi/local/store/public";
    expect((await ask(`${dev.url}${path}/cdn/a%20b/c.txt`)).body).toBe("object");
    const refused = await ask(`${dev.url}${path}/private/a`);
    expect(refused).toMatchObject({
      status: 404,
      body: "No public bucket has the name private.\n",
    });
  });

  it("leads a proxied record to its origin", async () => {
    const { status, headers, body } = await ask(at(dev, "app.example.com.localhost", "/a?b"));
    expect(status).toBe(200);
    const seen = JSON.parse(body) as Seen;
    expect(seen.url).toBe("/a?b");
    expect(seen.headers).toMatchObject({
      host: "app.example.com",
      "cf-connecting-ip": "127.0.0.1",
    });
    expect(Object.keys(seen.headers).filter((name) => /^(?:ledge|mf)-/.test(name))).toEqual([]);
    expect(headers.location).toBe(at(dev, "app.example.com.localhost", "/moved"));
  });

  it.each([
    ["plain.example.com", 530, "plain.example.com is not proxied"],
    ["none.example.com", 530, "No record none.example.com"],
    ["none.example.com.localhost", 530, "No record none.example.com"],
    ["app.example.org.localhost", 404, "No zone has app.example.org"],
    ["app.example.org", 403, "are not answered"],
  ])("answers http://%s with %i: %s", async (name, status, said) => {
    const answer = await ask(at(dev, name), { headers: { accept: "text/html" } });
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(said);
  });

  it("shows links to public buckets and proxied names in the summary", () => {
    const links = ["cdn.store.localhost", "cdn.example.com.localhost", "app.example.com.localhost"];
    const [first, ...others] = links.map((name) => at(dev, name));
    const lines = [`  names    ${first}`, ...others.map((link) => `           ${link}`)];
    expect(dev.lines.join("\n")).toContain(`${lines.join("\n")}\nState`);
  });

  it("leads loopback to the script", async () => {
    expect((await seenAt(`${dev.url}/x`)).url).toBe(`${dev.url}/x`);
  });

  describe("refuses MF-Original-URL with another host than Host:", () => {
    const forms: [string, (url: string) => Record<string, string>][] = [
      ["MF-Original-URL", (url) => ({ "MF-Original-URL": url })],
      ["mf-original-url", (url) => ({ "mf-original-url": url })],
      ["Mf-oRIGINAL-uRL", (url) => ({ "Mf-oRIGINAL-uRL": url })],
      ["twice", (url) => ({ "MF-Original-URL": url, "mf-original-url": url })],
      ["after the own host", (url) => ({ "MF-Original-URL": `${url}/, http://rebound.example/` })],
      ["with an upgrade", (url) => ({ "MF-Original-URL": url, ...upgradeHeaders })],
    ];
    const hosts = [
      ["rebound.example", "localhost"],
      ["rebound.example", "app.example.com"],
      ["rebound.example", "app.example.com.localhost"],
      ["rebound.example", "cdn.store.localhost"],
      ["localhost", "app.example.com"],
      ["localhost", "cdn.example.com"],
      ["cdn.example.com.localhost", "localhost"],
    ] as const;

    it.each(forms)("%s", async (_, headersFor) => {
      const { port } = new URL(dev.url);
      const answered: string[] = [];
      for (const [host, named] of hosts) {
        for (const path of ["/a%20b/c.txt", "/cdn-cgi/local/store/public/cdn/a%20b/c.txt"]) {
          const headers = { host: `${host}:${port}`, ...headersFor(at(dev, named, path)) };
          const { status } = await sendRaw(Number(port), { headers });
          if (status !== 403) answered.push(`${status}: ${host}, ${named}, ${path}`);
        }
      }
      expect(answered).toEqual([]);
    });

    it("the header with the host of the request leads where that URL leads without it", async () => {
      const path = "/cdn-cgi/local/store/public/private/a";
      const headers = { "mf-original-url": at(dev, "localhost", path) };
      expect(await ask(at(dev, "localhost"), { headers })).toMatchObject({
        status: 404,
        body: "No public bucket has the name private.\n",
      });
      const foreign = { "mf-original-url": at(dev, "rebound.example", path) };
      expect((await ask(at(dev, "rebound.example"), { headers: foreign })).status).toBe(403);
    });
  });
});
