/** Requests that the origin server passes on, as the edge worker sends them to its socket. */
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import {
  createServer,
  request as sendRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";
import { basename, join } from "node:path";
import type { TLSSocket } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { originHeaders, type OriginOrder } from "../../src/edge/core/origin-request.ts";
import { startOriginServer, type OriginServerOptions } from "../../src/edge/node/origin-server.ts";
import { makePrivateAuthority } from "../support/private-authority.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const host = "app.example.com";
const record = { name: host, type: "A", content: "127.0.0.1", proxied: true };

type Origin = OriginOrder["origins"][number];
type Sent = ReturnType<typeof sendRequest>;

interface RequestOptions {
  readonly headers?: OutgoingHttpHeaders;
  readonly protocol?: "http" | "https";
  readonly method?: string;
  readonly path?: string;
}

/** @returns a function that begins a request to origins */
async function openServer(options: OriginServerOptions = {}) {
  const server = await startOriginServer(temporaryFolder(), options);
  onTestFinished(() => server.close());
  const socketPath = server.address.slice("unix:".length);
  return (
    origins: Partial<Origin> | Partial<Origin>[],
    { headers, protocol = "http", ...rest }: RequestOptions = {},
  ): Sent => {
    const list = [origins].flat().map((origin) => {
      return { address: "127.0.0.1", port: null, protocol: null, ...origin };
    });
    const order = originHeaders({ host, protocol, record, origins: list });
    return sendRequest({ socketPath, agent: false, headers: { ...headers, ...order }, ...rest });
  };
}

async function answerOf(sent: Sent) {
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const { statusCode: status, statusMessage, headers } = response;
  return { status, statusMessage, headers, text: await textOf(response) };
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of message.setEncoding("utf8")) text += String(piece);
  return text;
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

function serve(listener: RequestListener): Promise<number> {
  return listen(createServer(listener));
}

function serveBytes(listener: (socket: Socket) => void): Promise<number> {
  return listen(createTcpServer((socket) => listener(socket.on("error", () => {}))));
}

/** No server listens at this port, which systems give to no client. */
const closedPort = 1;

const { server: identity } = makePrivateAuthority();

it("passes method, path, headers and body on, with the Host of the client's URL", async () => {
  const port = await serve((request, response) => {
    void textOf(request).then((body) => {
      const { method, url, rawHeaders } = request;
      response.setHeader("set-cookie", ["a=1", "b=2"]);
      response.writeHead(201, "Made", { "x-own": "yes", connection: "close, x-hop", "x-hop": "1" });
      response.end(JSON.stringify({ method, url, rawHeaders, body }));
    });
  });
  const begin = await openServer();
  const headers = {
    "X-Two": ["1", "2"],
    TE: "trailers",
    "Keep-Alive": "timeout=1",
    "Proxy-Authorization": "Basic",
    Connection: "close, x-hop",
    "X-Hop": "1",
  };
  const sent = begin({ port }, { method: "POST", path: "/a/../b?c=%20", headers });
  sent.write("meow");
  const { text, ...answer } = await answerOf(sent.end());
  expect(answer).toMatchObject({ status: 201, statusMessage: "Made" });
  expect(answer.headers).toMatchObject({ "x-own": "yes", "set-cookie": ["a=1", "b=2"] });
  expect(answer.headers).not.toHaveProperty("x-hop");
  const { rawHeaders, ...arrived } = JSON.parse(text) as { rawHeaders: string[] };
  expect(arrived).toEqual({ method: "POST", url: "/a/../b?c=%20", body: "meow" });
  expect(rawHeaders.join(" ")).toBe(
    `Host ${host} X-Two 1 X-Two 2 CDN-Loop cloudflare; loops=1 ` +
      "Transfer-Encoding chunked Connection close",
  );
});

it.each<[method: string, headers: OutgoingHttpHeaders, body: string, expected: unknown]>([
  ["PUT", { "content-length": 4 }, "meow", ["4", null]],
  ["PUT", { "transfer-encoding": "chunked" }, "meow", [null, "chunked"]],
  ["GET", { "transfer-encoding": "chunked" }, "meow", [null, "chunked"]],
  ["POST", { "content-length": 0 }, "", ["0", null]],
  ["GET", {}, "", [null, null]],
  ["DELETE", {}, "", [null, null]],
])("frames the body of %s with %j as the client does", async (method, headers, body, expected) => {
  const port = await serve((request, response) => {
    const { "content-length": length, "transfer-encoding": encoding } = request.headers;
    void textOf(request).then((text) => {
      response.end(JSON.stringify([text, length ?? null, encoding ?? null]));
    });
  });
  const begin = await openServer();
  const { text } = await answerOf(begin({ port }, { method, headers }).end(body));
  expect(JSON.parse(text)).toEqual([body, ...(expected as unknown[])]);
});

it("HEAD, 204 and 304 have no body, and the length that the origin says", async () => {
  const port = await serve(({ method, url }, response) => {
    response.writeHead(Number(url?.slice(1)), method === "HEAD" ? { "content-length": 7 } : {});
    response.end();
  });
  const begin = await openServer();
  const head = await answerOf(begin({ port }, { method: "HEAD", path: "/200" }).end());
  expect([head.status, head.headers["content-length"], head.text]).toEqual([200, "7", ""]);
  for (const status of [204, 304]) {
    const answer = await answerOf(begin({ port }, { path: `/${status}` }).end());
    expect(answer).toMatchObject({ status, text: "" });
  }
});

it("streams in both directions: each event arrives before the next is sent", async () => {
  const port = await serve((request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    request.on("data", (piece: Buffer) => response.write(`data: ${piece.toString()}\n\n`));
    request.on("end", () => response.end());
  });
  const begin = await openServer();
  const sent = begin({ port }, { method: "POST" });
  sent.flushHeaders();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  for (const word of ["one", "two", "three"]) {
    sent.write(word);
    const [piece] = (await once(response, "data")) as [Buffer];
    expect(piece.toString()).toBe(`data: ${word}\n\n`);
  }
  sent.end();
  await once(response, "end");
});

it("answers Expect: 100-continue", async () => {
  const port = await serve((request, response) => {
    response.setHeader("x-expect", String(request.headers.expect));
    request.pipe(response);
  });
  const begin = await openServer();
  const sent = begin({ port }, { method: "PUT", headers: { expect: "100-continue" } });
  sent.flushHeaders();
  await once(sent, "continue");
  const answer = await answerOf(sent.end("meow"));
  expect(answer).toMatchObject({ status: 200, text: "meow", headers: { "x-expect": "undefined" } });
});

it("an interim response is not the response", async () => {
  const port = await serve((_, response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    response.end("meow");
  });
  const begin = await openServer();
  expect(await answerOf(begin({ port }).end())).toMatchObject({ status: 200, text: "meow" });
});

const upgrade = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

it("a WebSocket is a connection to the origin, until one side ends it", async () => {
  const server = createServer();
  server.on("upgrade", ({ headers }, socket: Socket) => {
    const accept = `Sec-WebSocket-Accept: ${headers["sec-websocket-key"]}`;
    const fields = ["Upgrade: websocket", "Connection: Upgrade", accept, `X-Host: ${headers.host}`];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields.join("\r\n")}\r\n\r\nhello`);
    socket.pipe(socket);
  });
  const port = await listen(server);
  const begin = await openServer();
  const sent = begin({ port }, { headers: upgrade }).end();
  const [response, socket, head] = (await once(sent, "upgrade")) as [
    IncomingMessage,
    Socket,
    Buffer,
  ];
  expect(response.headers).toMatchObject({
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-accept": upgrade["sec-websocket-key"],
    "x-host": host,
  });
  const received = [head];
  socket.on("data", (piece: Buffer) => received.push(piece));
  const text = () => Buffer.concat(received).toString();
  await expect.poll(text).toBe("hello");
  socket.write("meow");
  await expect.poll(text).toBe("hellomeow");
  socket.end();
  await once(socket, "close");
});

it("an origin can refuse a WebSocket, with a response of any length", async () => {
  const body = "x".repeat(1 << 20);
  const port = await serve((_, response) => response.writeHead(403).end(body));
  const begin = await openServer();
  const refused = await answerOf(begin({ port }, { headers: upgrade }).end());
  expect([refused.status, refused.text === body]).toEqual([403, true]);
  const nowhere = await answerOf(begin({ port: closedPort }, { headers: upgrade }).end());
  expect(nowhere.status).toBe(521);
});

const sayName: RequestListener = ({ socket }, response) => {
  response.end(String((socket as TLSSocket).servername ?? "http"));
};

it("https without a rule: TLS if the origin speaks it, with the name of the URL, else http", async () => {
  const secure = await listen(createSecureServer(identity, sayName));
  const plain = await serve(sayName);
  const begin = await openServer();
  const ask = async (origin: Partial<Origin>) => {
    const { status, text } = await answerOf(begin(origin, { protocol: "https" }).end());
    return status === 200 ? text : status;
  };
  expect(await ask({ port: secure })).toBe(host);
  expect(await ask({ port: plain })).toBe("http");
  expect(await ask({ port: plain, protocol: "http" })).toBe("http");
  expect(await ask({ port: plain, protocol: "https" })).toBe(525);
  expect(await ask({ port: secure, protocol: "http" })).toBe(520);
});

it("the certificate of another machine is checked", async () => {
  const port = await listen(createSecureServer(identity, (_, response) => response.end("meow")));
  const begin = await openServer({ isTrusted: () => false });
  const { status, text } = await answerOf(begin({ port, protocol: "https" }).end());
  expect([status, text]).toEqual([526, expect.stringContaining(`127.0.0.1:${port}`)]);
});

it("tries the next address when one refuses", async () => {
  const port = await serve((_, response) => response.end("meow"));
  const begin = await openServer();
  const origins = [{ port: closedPort }, { address: "::1", port: closedPort }, { port }];
  expect(await answerOf(begin(origins).end())).toMatchObject({ status: 200, text: "meow" });
});

it("521: no server listens at the address", async () => {
  const begin = await openServer();
  const { status, headers, text } = await answerOf(begin({ port: closedPort }).end());
  expect([status, headers["content-type"]]).toEqual([521, "text/plain; charset=utf-8"]);
  expect(text).toContain(
    `app.example.com A 127.0.0.1 leads to 127.0.0.1:${closedPort}, which refused`,
  );
  const html = { headers: { accept: "text/html,*/*" } };
  expect((await answerOf(begin({ port: closedPort }, html).end())).text).toMatch(
    /^<!doctype html>/,
  );
});

it("524: the origin does not answer in time", async () => {
  const port = await serve(() => {});
  const begin = await openServer({ answerMilliseconds: 50 });
  expect(await answerOf(begin({ port }).end())).toMatchObject({ status: 524 });
});

it("a response that has begun may be silent for longer", async () => {
  const port = await serve((_, response) => {
    response.flushHeaders();
    setTimeout(() => response.end("meow"), 1500);
  });
  const begin = await openServer({ answerMilliseconds: 1000 });
  expect(await answerOf(begin({ port }).end())).toMatchObject({ status: 200, text: "meow" });
});

it.each([
  ["a connection that ends", ""],
  ["what is not HTTP", "SSH-2.0-OpenSSH_9.9\r\n\r\n"],
  ["a status that HTTP does not have", "HTTP/1.1 099 Low\r\n\r\n"],
  ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nm"],
])("520: %s instead of a response", async (_, bytes) => {
  const port = await serveBytes((socket) => socket.once("data", () => socket.end(bytes)));
  const begin = await openServer();
  expect(await answerOf(begin({ port }).end())).toMatchObject({ status: 520 });
});

it("a response that breaks off breaks off for the client", async () => {
  const port = await serveBytes((socket) => {
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nmeow"));
  });
  const begin = await openServer();
  const [response] = (await once(begin({ port }).end(), "response")) as [IncomingMessage];
  await expect(textOf(response)).rejects.toThrow("aborted");
});

it("a client that goes away ends the request to the origin", async () => {
  const gone = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const port = await serve((request) => {
    request.socket.once("close", () => gone.resolve());
    arrived.resolve();
  });
  const begin = await openServer();
  const sent = begin({ port }).on("error", () => {});
  sent.end();
  await arrived.promise;
  sent.destroy();
  await expect(gone.promise).resolves.toBeUndefined();
});

it("530: a name without an address", async () => {
  // Longer than names are, so that no resolver is asked.
  const address = "x".repeat(300);
  const begin = await openServer();
  const { status, text } = await answerOf(begin({ address }).end());
  expect([status, text]).toEqual([530, expect.stringContaining(address)]);
});

it("508: a name whose origin is the edge", async () => {
  const begin = await openServer();
  let requests = 0;
  const port: number = await serve((request, response) => {
    requests++;
    const again = begin({ port }, { headers: { "cdn-loop": request.headers["cdn-loop"] } }).end();
    again.once("response", (answer: IncomingMessage) => {
      response.writeHead(answer.statusCode ?? 0);
      answer.pipe(response);
    });
  });
  const { status, text } = await answerOf(begin({ port }).end());
  expect([status, requests]).toEqual([508, 8]);
  expect(text).toContain(`${host} leads back to this edge`);
});

it("closing ends the requests in flight", async () => {
  const port = await serve(() => {});
  const server = await startOriginServer(temporaryFolder());
  const origins = [{ address: "127.0.0.1", port, protocol: null }];
  const headers = originHeaders({ host, protocol: "http", record, origins });
  const sent = sendRequest({ socketPath: server.address.slice("unix:".length), headers }).end();
  const failed = once(sent, "response");
  await once(sent, "finish");
  await server.close();
  await expect(failed).rejects.toThrow(/socket hang up|ECONNRESET/);
});

it("removes the socket of a server that was killed, and leaves those of others", async () => {
  const folder = temporaryFolder();
  const other = await startOriginServer(folder);
  onTestFinished(() => other.close());
  const left = join(folder, "sockets", "0123456789abcdef");
  writeFileSync(left, "");
  const server = await startOriginServer(folder);
  expect(readdirSync(join(folder, "sockets"))).toHaveLength(2);
  await server.close();
  expect(readdirSync(join(folder, "sockets"))).toEqual([basename(other.address)]);
  expect(readdirSync(join(folder, "runs"))).toEqual([basename(other.address)]);
});
