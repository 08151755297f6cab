/** Where `fetch()` of scripts leads in a dev server, and what reaches the other side. */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ask, startEdge, suiteProject, type EdgeDev } from "./support/dev-edge.ts";

/** Fetches what the query names, and answers with what arrived. Else says who it is. */
const script = `
import { connect } from "cloudflare:sockets";
import { DurableObject } from "cloudflare:workers";

async function find({ url, via, init }, env, request) {
  if (via === "object") return env.OBJECT.getByName("one").find({ url, init });
  if (via === "request") return answerOf(await fetch(new Request(url, request)));
  if (via === "websocket") {
    const { webSocket } = await fetch(url, { headers: { upgrade: "websocket" } });
    webSocket.accept();
    const message = new Promise((resolve) => webSocket.addEventListener("message", resolve));
    webSocket.send("meow");
    return (await message).data;
  }
  if (via === "connect") {
    const socket = connect(url);
    const writer = socket.writable.getWriter();
    await writer.write(new TextEncoder().encode("meow"));
    const { value } = await socket.readable.getReader().read();
    return new TextDecoder().decode(value);
  }
  return answerOf(await fetch(url, init));
}

async function answerOf(response) {
  const text = await response.text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    body = text;
  }
  return { status: response.status, body };
}

export class Finder extends DurableObject {
  find(query) {
    return find(query, this.env);
  }
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/again") return fetch(request);
    if (url.pathname === "/anew") return fetch(request.url);
    if (url.pathname === "/put") return Response.json(await env.CDN.put("k", "object"));
    const query = url.searchParams.get("find");
    if (query !== null) {
      try {
        return Response.json(await find(JSON.parse(query), env, request));
      } catch (error) {
        return Response.json({ error: String(error) });
      }
    }
    if (request.headers.get("upgrade") === "websocket") {
      const [client, server] = Object.values(new WebSocketPair());
      server.accept();
      server.send("hello " + url.host);
      return new Response(null, { status: 101, webSocket: client });
    }
    const headers = Object.fromEntries(request.headers);
    return Response.json({ script: env.NAME, url: request.url, headers });
  },
};
`;

/** What a server or a script has seen. */
interface Seen {
  readonly script?: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Found {
  readonly status: number;
  readonly body: Seen;
}

const servers: Server[] = [];
const sockets = new Set<Socket>();

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

const common = { main: "index.js", compatibility_date: "2026-08-01" };
let folder: string;
let dev: EdgeDev;
let origin: number;

beforeAll(async () => {
  const server = createServer(({ url, headers }, response) => {
    response.end(JSON.stringify({ url, headers }));
  });
  origin = await listen(
    server.on("upgrade", ({ headers }: IncomingMessage, socket: Socket) => {
      const accept = webSocketAccept(String(headers["sec-websocket-key"]));
      const fields = [
        "Upgrade: websocket",
        "Connection: Upgrade",
        `Sec-WebSocket-Accept: ${accept}`,
      ];
      socket.on("error", () => {});
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields.join("\r\n")}\r\n\r\n`);
      const text = Buffer.from(`hello ${headers.host}`);
      socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
    }),
  );
  const names = ["front", "back", "plain", "direct"].map((name) => {
    return {
      type: "A",
      name,
      content: "127.0.0.1",
      proxied: name !== "plain" && name !== "direct",
    };
  });
  const far = { type: "A", name: "elsewhere", content: "192.0.2.1", proxied: true };
  folder = suiteProject({
    "front/index.js": script,
    "front/wrangler.json": {
      name: "front",
      ...common,
      routes: ["front.example.com/*"],
      vars: { NAME: "front" },
      durable_objects: { bindings: [{ name: "OBJECT", class_name: "Finder" }] },
      migrations: [{ tag: "1", new_sqlite_classes: ["Finder"] }],
      store_buckets: [{ binding: "CDN", bucket_name: "cdn", domains: ["cdn.example.com"] }],
      dns: { zones: [{ name: "example.com", records: [...names, far] }] },
      edge: {
        origins: ["front", "back", "plain"].map((name) => {
          return { host: `${name}.example.com`, port: origin };
        }),
      },
    },
    "back/index.js": script,
    "back/wrangler.json": {
      name: "back",
      ...common,
      vars: { NAME: "back" },
      routes: [
        "back.example.com/*",
        "back.example.org/*",
        { pattern: "api.example.com", custom_domain: true },
      ],
    },
    "open/index.js": script,
    "open/wrangler.json": {
      name: "open",
      ...common,
      compatibility_flags: ["global_fetch_strictly_public"],
      vars: { NAME: "open" },
      routes: ["open.example.com/*"],
    },
  });
  const configPath = join(folder, "front/wrangler.json");
  const auxiliaryConfigPaths = ["back", "open"].map((name) => join(folder, name, "wrangler.json"));
  dev = await startEdge(folder, { configPath, auxiliaryConfigPaths, dns: true, logLevel: "none" });
}, 120_000);

afterAll(async () => {
  await dev.stop();
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
  rmSync(folder, { recursive: true });
});

function webSocketAccept(key: string): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

/** What the script at a name finds. */
async function find(url: string, { from = "front", ...query }: Query = {}): Promise<unknown> {
  const { port } = new URL(dev.url);
  const asked = encodeURIComponent(JSON.stringify({ url, ...query }));
  const address = `http://${from}.example.com.localhost:${port}/?find=${asked}`;
  const { status, body } = await ask(address);
  expect({ status, body }).toMatchObject({ status: 200 });
  return JSON.parse(body);
}

interface Query {
  readonly from?: "front" | "open";
  readonly via?: "object" | "request" | "websocket" | "connect";
  readonly init?: object;
}

it("the own route of a script leads to the origin of its record", async () => {
  for (const via of [undefined, "object"] as const) {
    const { body } = (await find("https://front.example.com/a?b", { via })) as Found;
    expect(body).toMatchObject({ url: "/a?b", headers: { host: "front.example.com" } });
    expect(body.headers["x-forwarded-proto"]).toBe("https");
    expect(body.headers["cdn-loop"]).toBe("cloudflare; loops=1");
    expect(body.headers["cf-worker"]).toMatch(/example\.com$/);
  }
});

it("a route of another script in the same zone is not followed", async () => {
  expect(await find("http://back.example.com/")).toMatchObject({ body: { url: "/" } });
});

it("a custom domain and a route of another zone lead to their scripts", async () => {
  for (const url of ["https://api.example.com/a?b", "https://back.example.org/a?b"]) {
    const init = { headers: { "x-own": "1" } };
    const { body } = (await find(url, { init })) as Found;
    expect(body).toMatchObject({ script: "back", url, headers: { "x-own": "1" } });
    expect(body.headers["cdn-loop"]).toBe("cloudflare; loops=1");
  }
});

it("with global_fetch_strictly_public a script reaches scripts by their routes, also itself", async () => {
  expect(await find("https://open.example.com/a", { from: "open" })).toMatchObject({
    body: { script: "open", url: "https://open.example.com/a" },
  });
  expect(await find("https://back.example.com/", { from: "open" })).toMatchObject({
    body: { script: "back" },
  });
});

it("a script that asks for itself again and again is a loop, with and without its headers", async () => {
  for (const path of ["again", "anew", "anew"]) {
    const found = await find(`https://open.example.com/${path}`, { from: "open" });
    const body = expect.stringContaining("open.example.com leads back") as string;
    expect(found).toEqual({ status: 508, body });
  }
});

it("the header MF-Original-URL of a script leads nowhere", async () => {
  const init = { headers: { "mf-original-url": "https://back.example.org/other" } };
  const { body } = (await find("https://api.example.com/a", { init })) as Found;
  expect(body).toMatchObject({ script: "back", url: "https://api.example.com/a" });
});

it("a public bucket", async () => {
  const { port } = new URL(dev.url);
  await ask(`http://front.example.com.localhost:${port}/put`);
  expect(await find("https://cdn.example.com/k")).toEqual({ status: 200, body: "object" });
  expect(await find("https://cdn.example.com/no")).toMatchObject({ status: 404 });
});

it("a record that is not proxied leads to its address", async () => {
  expect(await find("http://plain.example.com/")).toMatchObject({ body: { url: "/" } });
  const direct = `http://direct.example.com:${origin}/`;
  expect(await find(direct)).toMatchObject({ body: { url: "/" } });
});

it("an address of another machine is not connected to", async () => {
  expect(await find("http://elsewhere.example.com/")).toMatchObject({ status: 523 });
});

it("other hosts are asked as before", async () => {
  for (const host of ["127.0.0.1", "localhost"]) {
    const { status, body } = (await find(`http://${host}:${origin}/a?b`)) as Found;
    expect({ status, body }).toMatchObject({ status: 200, body: { url: "/a?b" } });
    expect(body.headers).not.toHaveProperty("cdn-loop");
  }
  // Longer than a label is, so that no resolver is asked.
  expect(await find(`http://${"x".repeat(64)}.example.net/`)).toHaveProperty("error");
});

it("WebSockets lead to origins and scripts, and to other hosts as before", async () => {
  for (const host of ["front.example.com", "api.example.com", `127.0.0.1:${origin}`]) {
    expect(await find(`http://${host}/`, { via: "websocket" })).toBe(`hello ${host}`);
  }
});

it("sockets are not led", async () => {
  const port = await listen(createTcpServer((socket) => socket.pipe(socket)));
  expect(await find(`127.0.0.1:${port}`, { via: "connect" })).toBe("meow");
});
