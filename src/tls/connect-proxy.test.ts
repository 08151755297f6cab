/** A proxy that leads some names here, and other connections on. */
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { openConnectProxy, parseProxy } from "./connect-proxy.ts";

describe("parseProxy()", () => {
  it.each([
    [undefined, null],
    ["", null],
    ["socks5://127.0.0.1:9", null],
    ["http://proxy.test:3128", { host: "proxy.test", port: 3128, credentials: null }],
    ["proxy.test:3128", { host: "proxy.test", port: 3128, credentials: null }],
    ["http://[2001:db8::1]", { host: "2001:db8::1", port: 80, credentials: null }],
    [
      "http://me:p%40ss@proxy.test/",
      {
        host: "proxy.test",
        port: 80,
        credentials: `Basic ${Buffer.from("me:p@ss").toString("base64")}`,
      },
    ],
  ])("reads %j", (given, proxy) => {
    expect(parseProxy(given)).toEqual(proxy);
  });
});

/** A server that says which octets it got, and its port. */
async function echo(): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => void answer(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function answer(socket: Socket): Promise<void> {
  const [piece] = (await once(socket, "data")) as [Buffer];
  socket.end(`got ${piece.toString()}`);
}

async function openProxy(options: Partial<Parameters<typeof openConnectProxy>[0]>): Promise<URL> {
  const proxy = await openConnectProxy({
    leadsHere: (name) => Promise.resolve(name === "api.example"),
    server: {
      serve: (client) => void answer(client.resume()),
      answer: (request, response) => response.end(`here ${request.url}`),
    },
    next: { http: null, https: null },
    ...options,
  });
  onTestFinished(() => proxy.close());
  return new URL(proxy.url);
}

async function open(options: Partial<Parameters<typeof openConnectProxy>[0]> = {}) {
  const url = await openProxy(options);
  const credentials = Buffer.from(`${url.username}:${url.password}`).toString("base64");
  const header = `proxy-authorization: Basic ${credentials}\r\n`;
  return (head: string, after = "", fields = header): Promise<string> => {
    const socket = connect(Number(url.port), "127.0.0.1");
    socket.write(`${head} HTTP/1.1\r\nConnection: close\r\n${fields}\r\n${after}`);
    return text(socket);
  };
}

const established = "HTTP/1.1 200 Connection established\r\n\r\n";

describe("openConnectProxy()", () => {
  it("serves its names itself, with what the client has sent already", async () => {
    const send = await open();
    expect(await send("CONNECT API.example:443", "hello")).toBe(`${established}got hello`);
  });

  it("connects to any other host", async () => {
    const send = await open();
    const port = await echo();
    expect(await send(`CONNECT 127.0.0.1:${port}`, "hello")).toBe(`${established}got hello`);
  });

  it("answers requests for URLs of its names itself, and passes others on", async () => {
    const send = await open();
    expect(await send("GET http://API.example:81/a")).toMatch(/\r\n\r\n.*here http:\/\/API/s);
    const server = createHttpServer(({ url, headers }, response) => {
      response.end(`${url} ${headers.host} ${headers["proxy-authorization"]}`);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await send(`GET http://127.0.0.1:${port}?a`)).toContain(
      `/?a 127.0.0.1:${port} undefined`,
    );
    const http = { host: "127.0.0.1", port, credentials: "x" };
    const sendOn = await open({ next: { http, https: null } });
    expect(await sendOn("GET http://other.example/a")).toContain(
      "http://other.example/a other.example x",
    );
  });

  it("without a password, passes that of the client on", async () => {
    const https = { host: "127.0.0.1", port: await echo(), credentials: "x" };
    const send = await open({ isOpen: true, next: { http: null, https } });
    expect(await send("CONNECT other.example:443", "", "Proxy-Authorization: y\r\n")).toContain(
      "\r\nProxy-Authorization: y\r\n",
    );
    expect(await send("CONNECT other.example:443", "", "")).not.toContain("Proxy-Authorization");
  });

  it("asks the next proxy for any other host", async () => {
    const https = { host: "127.0.0.1", port: await echo(), credentials: "x" };
    const send = await open({ next: { http: null, https } });
    expect(await send("CONNECT other.example:443")).toBe(
      "got CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\nProxy-Authorization: x\r\n\r\n",
    );
  });

  it.each(["", "Proxy-Authorization: Basic bGVkZ2U6bGVkZ2U=\r\n"])(
    "refuses a client that does not know the password: %j",
    async (fields) => {
      const send = await open();
      expect(await send("CONNECT api.example:443", "", fields)).toMatch(/^HTTP\/1\.1 407 /);
      expect(await send("GET http://api.example/", "", fields)).toMatch(/^HTTP\/1\.1 407 /);
      expect(await send(`CONNECT 127.0.0.1:${await echo()}`, "", fields)).toMatch(
        /^HTTP\/1\.1 407 /,
      );
    },
  );

  it.each(["", "CONN", "CONNECT api.example:443 HTTP/1.1\r\nHost: api"])(
    "closes a connection with only %j of a request",
    async (part) => {
      const url = await openProxy({ waitMilliseconds: 50 });
      const socket = connect(Number(url.port), "127.0.0.1");
      socket.write(part);
      expect(await text(socket)).toBe("");
    },
  );

  it("leaves an established connection alone, and ends a wait for the next proxy", async () => {
    const send = await open({ waitMilliseconds: 300 });
    const silent = createServer((socket) => void setTimeout(() => socket.end("late"), 600));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    expect(await send(`CONNECT 127.0.0.1:${port}`)).toBe(`${established}late`);

    const https = { host: "127.0.0.1", port, credentials: null };
    const sendOn = await open({ next: { http: null, https }, waitMilliseconds: 100 });
    expect(await sendOn("CONNECT other.example:443")).toMatch(/^HTTP\/1\.1 502 /);
  });

  it("says that a host does not answer, and refuses other methods", async () => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const send = await open();
    expect(await send(`CONNECT 127.0.0.1:${port}`)).toMatch(/^HTTP\/1\.1 502 /);
    expect(await send("GET /")).toMatch(/^HTTP\/1\.1 405 /);
    expect(await send("CONNECT api.example")).toMatch(/^HTTP\/1\.1 400 /);
  });
});
