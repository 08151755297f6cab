import { createServer, type AddressInfo, type Server } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "./free-port.ts";

function listen(port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, host, () => resolve(server));
    onTestFinished(() => void server.close());
  });
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

describe("freePort()", () => {
  it("gives a port that is free as it is", async () => {
    const server = await listen(0, "127.0.0.1");
    const port = portOf(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await freePort(port, "127.0.0.1")).toBe(port);
  });

  it.each(["127.0.0.1", "localhost", "*"])("passes over one that is taken, on %s", async (host) => {
    const taken = portOf(await listen(0, "127.0.0.1"));
    const port = await freePort(taken, host);
    expect(port).not.toBe(taken);
    await listen(port, "127.0.0.1");
  });

  it("finds any for 0, and keeps nobody from listening there", async () => {
    const port = await freePort(0, "localhost");
    // The port is reserved, and that must not be in the way of whom it is for.
    await listen(port, "127.0.0.1");
    expect(port).toBeGreaterThan(0);
  });

  it("finds another for the last of all ports", async () => {
    // Whoever has it already is as good as we.
    await listen(65_535, "127.0.0.1").catch(() => {});
    expect(await freePort(65_535, "127.0.0.1")).toBeLessThan(65_535);
  });
});
