import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDemandPort, type DemandPort } from "./companion-dns.ts";

const host = "127.0.0.1";

async function open(start: () => Promise<number>): Promise<DemandPort> {
  const opened = await openDemandPort(host, 0, start);
  onTestFinished(() => opened.close());
  return opened;
}

describe("openDemandPort()", () => {
  it("starts the server with the first connection, and passes all connections on", async () => {
    const server = createHttpServer((request, response) =>
      response.end(`you asked ${request.url}`),
    );
    onTestFinished(() => void server.close());
    let starts = 0;
    let started: Promise<number> | undefined;
    const start = async () => {
      starts++;
      server.listen(0, host);
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    };
    const { port } = await open(() => (started ??= start()));
    expect(starts).toBe(0);
    const ask = async (path: string) => (await fetch(`http://${host}:${port}/${path}`)).text();
    expect(await Promise.all([ask("a"), ask("b")])).toEqual(["you asked /a", "you asked /b"]);
    expect(await ask("c")).toBe("you asked /c");
    expect(starts).toBe(1);
    server.closeAllConnections();
  });

  it("ends a connection whose server does not start", async () => {
    const { port } = await open(() => Promise.reject(new Error("no")));
    await expect(fetch(`http://${host}:${port}/`)).rejects.toThrow("fetch failed");
  });

  it("fails when the port is taken", async () => {
    const other = createServer().listen(0, host);
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    await expect(openDemandPort(host, port, async () => 0)).rejects.toThrow("EADDRINUSE");
  });
});
