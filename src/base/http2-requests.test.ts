/** HTTP/2 through the port of the record API, to a server that stands for the companion worker. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import { request as requestByHttps } from "node:https";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer, json, text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { Authority } from "../tls/authority.ts";
import { ApiPort } from "../dns/server/api-port.ts";

/** What the worker has received, as it tells the client. */
interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request;
  const body = await text(request);
  response.setHeader("set-cookie", ["a=1", "b=2"]);
  response.end(JSON.stringify({ method, url, headers, body }));
}

let folder: string;
let authority: Authority;
let answer: Answer;
const worker = createServer((request, response) => void answer(request, response));

beforeEach(async () => {
  answer = echo;
  folder = mkdtempSync(join(tmpdir(), "ledge-http2-"));
  authority = Authority.open(join(folder, "https"), [], new Date());
  worker.listen(join(folder, "worker"));
  await once(worker, "listening");
});

afterEach(async () => {
  worker.closeAllConnections();
  if (worker.listening) {
    worker.close();
    await once(worker, "close");
  }
  rmSync(folder, { recursive: true });
});

async function open(isTls = true): Promise<ApiPort> {
  const identity = isTls ? authority.certify([], new Date()) : undefined;
  const target = join(folder, "worker");
  const port = await ApiPort.open({ host: "127.0.0.1", port: 0, target, identity });
  onTestFinished(() => port.close());
  return port;
}

async function connectTo({ port }: ApiPort, isTls = true): Promise<ClientHttp2Session> {
  const origin = `${isTls ? "https" : "http"}://127.0.0.1:${port}`;
  const session = connect(origin, { ca: authority.certificate });
  onTestFinished(() => session.destroy());
  session.on("error", () => {});
  await once(session, "remoteSettings");
  return session;
}

async function send(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<{ headers: IncomingHttpHeaders; stream: ClientHttp2Stream }> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [received] = (await once(stream, "response")) as [IncomingHttpHeaders];
  return { headers: received, stream };
}

describe.each([
  ["in the handshake of TLS", true],
  ["by the first octets, without TLS", false],
])("a client that chooses HTTP/2 %s", (_, isTls) => {
  it("gets the responses of the worker", async () => {
    const port = await open(isTls);
    const session = await connectTo(port, isTls);
    const { headers, stream } = await send(session, { ":path": "/a?b=c", cookie: "x=1" });
    expect(headers).toMatchObject({ ":status": 200, "set-cookie": ["a=1", "b=2"] });
    expect(headers).not.toHaveProperty("connection");
    expect(await json(stream)).toMatchObject({
      method: "GET",
      url: "/a?b=c",
      headers: { host: `127.0.0.1:${port.port}`, cookie: "x=1" },
    });
  });
});

it("serves HTTP/1.1 at the same port", async () => {
  const { port } = await open();
  const ca = authority.certificate;
  const sent = requestByHttps({ port, host: "127.0.0.1", ca, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  expect([response.httpVersion, (await json(response)) as Echo]).toMatchObject([
    "1.1",
    { url: "/" },
  ]);
});

describe("a request", () => {
  it.each(["POST", "PUT", "PATCH", "DELETE"])(
    "%s has its body, with and without a length",
    async (method) => {
      const session = await connectTo(await open());
      const unknown = await send(session, { ":method": method }, "body");
      expect(await json(unknown.stream)).toMatchObject({ method, body: "body" });
      const known = await send(session, { ":method": method, "content-length": 4 }, "body");
      expect(await json(known.stream)).toMatchObject({
        headers: { "content-length": "4" },
        body: "body",
      });
      const none = await send(session, { ":method": method });
      expect(await json(none.stream)).toMatchObject({ method, body: "" });
    },
  );

  it("is passed on before its body ends", async () => {
    const session = await connectTo(await open());
    answer = (request, response) => request.pipe(response);
    const stream = session.request({ ":method": "POST" });
    for (const piece of ["one", "two"]) {
      stream.write(piece);
      const [echoed] = (await once(stream, "data")) as [Buffer];
      expect(echoed.toString()).toBe(piece);
    }
    stream.end();
  });

  it("that waits for 100 gets it", async () => {
    const session = await connectTo(await open());
    const stream = session.request({ ":method": "POST", expect: "100-continue" });
    await once(stream, "continue");
    stream.end("body");
    const received = (await json(stream)) as Echo;
    expect(received.body).toBe("body");
    expect(received.headers).not.toHaveProperty("expect");
  });

  it("of CONNECT is refused", async () => {
    const session = await connectTo(await open());
    const headers = { ":method": "CONNECT", ":authority": "a.test:1" };
    expect((await send(session, headers)).headers[":status"]).toBe(405);
  });

  it("that the client takes back ends at the worker", async () => {
    const session = await connectTo(await open());
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    answer = (request) => resolve(request);
    const stream = session.request({ ":path": "/slow" });
    const received = await promise;
    stream.close(constants.NGHTTP2_CANCEL);
    await expect(once(received.socket, "close")).resolves.toBeDefined();
  });
});

describe("a response", () => {
  it.each([
    [200, "HEAD"],
    [204, "GET"],
    [304, "GET"],
  ])("of %i to %s has no body", async (status, method) => {
    answer = (_, response) => response.writeHead(status, { etag: "x" }).end();
    const session = await connectTo(await open());
    const { headers, stream } = await send(session, { ":method": method });
    expect(headers).toMatchObject({ ":status": status, etag: "x" });
    expect(await text(stream)).toBe("");
  });

  it("of 10 MB passes whole, and many responses at once", async () => {
    const large = Buffer.alloc(10_000_000, "x");
    answer = (request, response) => response.end(request.url === "/large" ? large : request.url);
    const session = await connectTo(await open());
    const { stream } = await send(session, { ":path": "/large" });
    const paths = Array.from({ length: 300 }, (_, index) => `/${index}`);
    const asked = paths.map(async (path) => text((await send(session, { ":path": path })).stream));
    expect(await Promise.all(asked)).toEqual(paths);
    expect((await buffer(stream)).equals(large)).toBe(true);
  });

  it("that breaks off is no whole response", async () => {
    answer = (request, response) => {
      response.writeHead(200, { "content-length": 10 });
      response.write("part", () => request.socket.destroy());
    };
    const session = await connectTo(await open());
    const { stream } = await send(session, {});
    await expect(text(stream)).rejects.toThrow(/INTERNAL_ERROR/);
  });

  it("is 502 without a worker, and the session goes on", async () => {
    const session = await connectTo(await open());
    answer = (request) => request.socket.destroy();
    expect((await send(session, {})).headers[":status"]).toBe(502);
    answer = echo;
    expect((await send(session, {})).headers[":status"]).toBe(200);
  });
});

describe("a session", () => {
  it("is told that it ends when the port closes", async () => {
    const port = await open();
    const session = await connectTo(port);
    await text((await send(session, {})).stream);
    const told = once(session, "goaway");
    const closed = once(session, "close");
    await port.close();
    expect((await told).slice(0, 2)).toEqual([constants.NGHTTP2_NO_ERROR, 1]);
    await closed;
  });

  it("of a client that breaks the protocol ends, and other sessions go on", async () => {
    const port = await open(false);
    const session = await connectTo(port, false);
    const broken = connectPlain(port.port, "127.0.0.1");
    broken.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    await once(broken.resume(), "close");
    expect((await send(session, {})).headers[":status"]).toBe(200);
  });
});
