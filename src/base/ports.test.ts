import { createServer, type AddressInfo, type Server } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { findFreePort, isListening, isPort } from "./ports.ts";

function listen(port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, host, () => resolve(server));
    onTestFinished(() => void server.close());
  });
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

it.each([
  [0, true],
  [65_535, true],
  [65_536, false],
  [-1, false],
  [80.5, false],
  ["80", false],
])("isPort(%j) is %j", (value, expected) => {
  expect(isPort(value)).toBe(expected);
});

describe("findFreePort()", () => {
  it("returns the wanted port when that is free", async () => {
    const server = await listen(0, "127.0.0.1");
    const port = portOf(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await findFreePort(port, "127.0.0.1")).toBe(port);
  });

  it.each(["127.0.0.1", "localhost", "*"])("skips a port that is taken on %s", async (host) => {
    const taken = portOf(await listen(0, "127.0.0.1"));
    const port = await findFreePort(taken, host);
    expect(port).not.toBe(taken);
    await listen(port, "127.0.0.1");
  });

  it("returns any free port for 0, on which a server can listen", async () => {
    const port = await findFreePort(0, "localhost");
    // The reservation of the port does not keep the server from listening.
    await listen(port, "127.0.0.1");
    expect(port).toBeGreaterThan(0);
  });

  it("returns another port when the last port is taken", async () => {
    // The test needs the port to be taken, by this or by another process.
    await listen(65_535, "127.0.0.1").catch(() => {});
    expect(await findFreePort(65_535, "127.0.0.1")).toBeLessThan(65_535);
  });
});

it("isListening() is true while a server listens", async () => {
  const server = await listen(0, "127.0.0.1");
  const port = portOf(server);
  expect(await isListening("127.0.0.1", port)).toBe(true);
  await new Promise((resolve) => server.close(resolve));
  expect(await isListening("127.0.0.1", port)).toBe(false);
});
