/** The way in, in front of a server that stands for a dev server. */
import { once } from "node:events";
import {
  createServer,
  request as requestByHttp,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as requestByHttps } from "node:https";
import {
  connect as connectPlain,
  createServer as createPlainServer,
  type AddressInfo,
} from "node:net";
import { text } from "node:stream/consumers";
import { connect, type TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/store.ts";
import { Authority } from "../../tls/authority.ts";
import { unrecognizedName } from "../../tls/client-hello.ts";
import { parseEntrance } from "../core/entrance.ts";
import { openEntrance, type EntranceOptions } from "./entrance-server.ts";
import { announceMember, newMemberId } from "./members.ts";

const name = "photos.example.com";
const authority = Authority.temporary(new Date());
const ca = authority.certificate;

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly origin: string;
  readonly body: string;
}

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request;
  const entrance = parseEntrance(String(headers["ledge-entrance"]), "secret");
  const body = await text(request);
  response.setHeader("set-cookie", ["a=1", "b=2"]);
  response.end(JSON.stringify({ method, url, origin: entrance?.origin, body }));
}

async function listen(server: Server | ReturnType<typeof createPlainServer>): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

interface Options extends Partial<EntranceOptions> {
  /** The dev server; `null` for none. */
  readonly member?: Server | null;
}

/** The port of an entrance. */
async function open({ member, ...options }: Options = {}): Promise<number> {
  const stateFolder = temporaryFolder();
  if (member !== null) {
    const server =
      member ?? createServer({ maxHeaderSize: 131_072 }, (...both) => void echo(...both));
    const url = `http://127.0.0.1:${await listen(server)}`;
    const nothing = { scripts: [], routes: [], buckets: [] };
    const own = { id: newMemberId(), processId: process.pid, url, token: "secret" };
    const announcement = announceMember(stateFolder, { ...own, ...nothing });
    onTestFinished(() => announcement.end());
  }
  const entrance = openEntrance({
    stateFolder,
    authority,
    serves: (asked) => Promise.resolve(asked.endsWith("example.com")),
    passOn: (client) => void client.end(unrecognizedName),
    ...options,
  });
  const port = await listen(createPlainServer((client) => entrance.serve(client)));
  onTestFinished(() => entrance.close());
  return port;
}

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request whose body the test writes. */
function begin(port: number, { headers, ...rest }: Omit<Sent, "body"> = {}, isTls = true) {
  const options = { port, host: "127.0.0.1", agent: false, headers: { host: name, ...headers } };
  return isTls
    ? requestByHttps({ ...options, ...rest, servername: name, ca })
    : requestByHttp({ ...options, ...rest });
}

async function send(port: number, { body, ...rest }: Sent = {}, isTls = true) {
  const sent = begin(port, rest, isTls).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

async function openTls(port: number, servername = name): Promise<TLSSocket> {
  const socket = connect({ port, host: "127.0.0.1", servername, ca });
  await once(socket, "secureConnect");
  return socket;
}

describe("requests", () => {
  it.each([
    [true, "https"],
    [false, "http"],
  ])("go to the dev server with the origin of the client (TLS: %s)", async (isTls, scheme) => {
    const port = await open();
    const sent = { method: "POST", path: "/a%20b?c=d", body: "hello" };
    const { status, headers, text: body } = await send(port, sent, isTls);
    expect([status, headers["set-cookie"]]).toEqual([200, ["a=1", "b=2"]]);
    const expected: Echo = {
      method: "POST",
      url: "/a%20b?c=d",
      origin: `${scheme}://${name}`,
      body: "hello",
    };
    expect(JSON.parse(body)).toEqual(expected);
  });

  it("keep their port, and lose what is of one connection", async () => {
    const port = await open();
    const headers = {
      host: `${name}:8443`,
      "proxy-authorization": "x",
      connection: "x-hop",
      "x-hop": "1",
    };
    const { text: body } = await send(port, { headers });
    expect(JSON.parse(body)).toMatchObject({
      origin: `https://${name}:8443`,
    });
  });

  it("in absolute form name their URL", async () => {
    const port = await open();
    const { text: body } = await send(port, { path: `http://cdn.example.com?a` }, false);
    const expected = { url: "/?a", origin: "http://cdn.example.com" };
    expect(JSON.parse(body)).toMatchObject(expected);
  });

  it("by HTTP/2 are the same", async () => {
    const port = await open();
    const session = connectHttp2(`https://${name}`, {
      createConnection: () =>
        connect({ port, host: "127.0.0.1", servername: name, ca, ALPNProtocols: ["h2"] }),
    });
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":method": "PUT", ":path": "/k" });
    stream.end("hello");
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(headers[":status"]).toBe(200);
    const expected = {
      method: "PUT",
      url: "/k",
      origin: `https://${name}`,
      body: "hello",
    };
    expect(JSON.parse(await text(stream))).toEqual(expected);
    const other = session.request({ ":authority": "other.example.com" });
    const [refused] = (await once(other, "response")) as [Record<string, unknown>];
    expect(refused[":status"]).toBe(421);
  });

  it("stream both ways", async () => {
    const member = createServer((request, response) => void request.pipe(response));
    const port = await open({ member });
    const sent = begin(port, { method: "POST" });
    sent.write("first");
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect(String((await once(response, "data"))[0])).toBe("first");
    sent.end("second");
    expect(String((await once(response, "data"))[0])).toBe("second");
  });

  it("that expect 100 get 100, and the dev server has no part in it", async () => {
    const member = createServer((request, response) => {
      void text(request).then((body) => response.end(`${request.headers.expect} ${body}`));
    });
    const port = await open({ member });
    const headers = { expect: "100-continue", "content-length": "5" };
    const sent = begin(port, { method: "PUT", headers });
    sent.flushHeaders();
    await once(sent, "continue");
    sent.end("hello");
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect(await text(response)).toBe("undefined hello");
  });

  it("for another protocol keep their connection", async () => {
    const member = createServer((_, response) => response.writeHead(426).end("no"));
    member.on("upgrade", ({ headers }, socket) => {
      const { upgrade } = headers;
      if (upgrade !== "echo")
        return void socket.end("HTTP/1.1 426 No\r\nContent-Length: 2\r\n\r\nno");
      socket.write("HTTP/1.1 101 Yes\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n");
      socket.pipe(socket);
    });
    const port = await open({ member });
    const ask = async (upgrade: string): Promise<TLSSocket> => {
      const socket = await openTls(port);
      socket.write(
        `GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`,
      );
      return socket;
    };
    const socket = await ask("echo");
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 101 Yes\r\n/);
    let received = "";
    socket.on("data", (piece: Buffer) => (received += piece.toString()));
    socket.write("ping");
    await vi.waitUntil(() => received.endsWith("ping"), 30_000);
    socket.destroy();
    expect(await text(await ask("other"))).toMatch(/^HTTP\/1\.1 426 No\r\n[^]*no$/);
  });
});

describe("names", () => {
  it("have a certificate for themselves alone, which is made once", async () => {
    const port = await open();
    const [first, second] = [await openTls(port), await openTls(port)];
    const certificate = first.getPeerCertificate();
    expect(certificate.subjectaltname).toBe(`DNS:${name}`);
    expect(second.getPeerCertificate().serialNumber).toBe(certificate.serialNumber);
    for (const socket of [first, second]) socket.destroy();
  });

  it("outside get an alert of TLS", async () => {
    const port = await open();
    await expect(openTls(port, "www.example.org")).rejects.toThrow(/unrecognized name/);
  });

  it("of a request and of its connection must be equal", async () => {
    const port = await open();
    const { status, text: body } = await send(port, { headers: { host: "cdn.example.com" } });
    expect([status, body]).toEqual([421, expect.stringContaining(name)]);
    expect((await send(port, { headers: { host: `${name.toUpperCase()}:1` } })).status).toBe(200);
  });
});

describe("what goes wrong", () => {
  it("without a dev server, a text says what to start, and is told once", async () => {
    const told: string[] = [];
    const port = await open({ member: null, onMissing: (line) => void told.push(line) });
    for (const headers of [undefined, { connection: "upgrade", upgrade: "websocket" }]) {
      const { status, text: body } = await send(port, { headers });
      expect([status, body]).toEqual([
        503,
        expect.stringMatching(/start "ledge dev" in the project/),
      ]);
    }
    expect(told).toHaveLength(1);
  });

  it("a dev server that ends its connection is 502, or half a response", async () => {
    let isHalf = false;
    const member = createServer((request, response) => {
      if (!isHalf) return void request.socket.destroy();
      response.write("half");
      setImmediate(() => request.socket.destroy());
    });
    const port = await open({ member });
    expect(await send(port)).toMatchObject({
      status: 502,
      text: expect.stringMatching(/does not answer/),
    });
    isHalf = true;
    await expect(send(port)).rejects.toThrow(/aborted/);
  });

  it("a head that is too long is 431", async () => {
    const port = await open();
    expect((await send(port, { headers: { x: "x".repeat(60_000) } })).status).toBe(200);
    expect((await send(port, { headers: { x: "x".repeat(70_000) } })).status).toBe(431);
  });

  it.each(["\x16\x03\x01", "GET / HTTP/1.1\r\nHost: photos", ""])(
    "a client that begins with %j and stops is disconnected",
    async (start) => {
      const port = await open({ headMilliseconds: 100 });
      const socket = connectPlain(port, "127.0.0.1");
      socket.write(start);
      expect(await text(socket)).toBe("");
    },
  );

  it("a TLS client that sends no request is disconnected, and a slow response is not", async () => {
    const member = createServer((_, response) => void setTimeout(() => response.end("late"), 500));
    const port = await open({ member, headMilliseconds: 250 });
    const slow = send(port);
    expect(await text(await openTls(port))).toBe("");
    expect((await slow).text).toBe("late");
  });

  it("a request without a host is 400", async () => {
    const socket = connectPlain(await open(), "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });
});
