/** The first message of TLS clients, as Node's client writes it. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { connect } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { readClientHello } from "./client-hello.ts";

/** What a client sends first. */
async function helloFor(servername: string, options = {}): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: "127.0.0.1", servername, ...options }).on("error", () => {});
  const [socket] = (await once(server, "connection")) as [Socket];
  const [hello] = (await once(socket, "data")) as [Buffer];
  client.destroy();
  return hello;
}

describe("readClientHello()", () => {
  it.each([
    ["a.example.com", {}],
    ["a.example.com", { maxVersion: "TLSv1.2" as const, ALPNProtocols: ["h2", "http/1.1"] }],
  ])("finds the name %s in a message in any pieces", async (name, options) => {
    const hello = await helloFor(name, options);
    expect(readClientHello(hello)).toEqual({ name });
    expect(readClientHello(Buffer.concat([hello, Buffer.from("more")]))).toEqual({ name });
    for (let length = 0; length < hello.length; length++) {
      expect(readClientHello(hello.subarray(0, length))).toBeUndefined();
    }
  });

  it("finds no name where the client sends none", async () => {
    expect(readClientHello(await helloFor(""))).toEqual({ name: null });
  });

  it("takes other octets for no TLS, and reads no octet outside of the message", async () => {
    expect(readClientHello(Buffer.from("GET / HTTP/1.1\r\n"))).toBeNull();
    expect(readClientHello(Buffer.from([22, 3, 1, 0xff, 0xff]))).toBeNull();
    expect(readClientHello(Buffer.from([22, 3, 1, 0, 2, 1, 0]))).toBeNull();
    const hello = await helloFor("a.example.com");
    for (let at = 5; at < hello.length; at++) {
      const damaged = Buffer.from(hello);
      damaged[at] = 255 - damaged[at]!;
      expect(() => readClientHello(damaged)).not.toThrow();
    }
  });
});
