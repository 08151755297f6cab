import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { publishSocket, removeSocket, reserveSocket, socketPath } from "./sockets.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ledge-sockets-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function listen(path: string): Promise<Server> {
  const server = createServer((connection) => connection.destroy());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return server;
}

/** `null` when a server accepts. */
function connectError(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(null);
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code ?? ""));
  });
}

/** A process that another test starts has the sockets of this process for a moment, until its program runs. */
async function expectRefused(path: string): Promise<void> {
  await expect.poll(() => connectError(path), { timeout: 30_000 }).toBe("ECONNREFUSED");
}

describe("socketPath()", () => {
  it("is in the folder, in a folder that only the user can enter", () => {
    const path = socketPath(folder, "api");
    expect(path).toBe(join(folder, "sockets", "api"));
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  it("is the same for a link to the folder", () => {
    symlinkSync(folder, `${folder}-link`);
    onTestFinished(() => rmSync(`${folder}-link`));
    expect(socketPath(`${folder}-link`, "api")).toBe(socketPath(folder, "api"));
  });

  it("is short enough for a folder with a long path, and different for each folder", async () => {
    const long = ["a", "b"].map((name) => join(folder, name.repeat(120)));
    for (const each of long) mkdirSync(each);
    const paths = long.map((each) => socketPath(each, "0123456789abcdef:0"));
    for (const path of paths) {
      onTestFinished(() => rmSync(dirname(path), { recursive: true }));
      expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103);
      expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
      expect(statSync(dirname(dirname(path))).mode & 0o077).toBe(0);
      await listen(path);
    }
    expect(new Set(paths).size).toBe(2);
  });
});

describe("publishSocket()", () => {
  it("replaces the socket of an earlier server", async () => {
    const [first, second, name] = ["1", "2", "api"].map((each) => socketPath(folder, each)) as [
      string,
      string,
      string,
    ];
    const earlier = await listen(first);
    publishSocket(first, name);
    expect(await connectError(name)).toBeNull();
    earlier.close();
    await expectRefused(name);
    await listen(second);
    publishSocket(second, name);
    expect(await connectError(name)).toBeNull();
    expect(readdirSync(join(folder, "sockets"))).toEqual(["api"]);
  });
});

describe("reserveSocket()", () => {
  it("makes a socket at which no server listens", async () => {
    const path = socketPath(folder, "api");
    expect(await connectError(path)).toBe("ENOENT");
    await Promise.all([reserveSocket(path), reserveSocket(`${path}2`)]);
    await expectRefused(path);
    expect(readdirSync(join(folder, "sockets")).sort()).toEqual(["api", "api2"]);
  });

  it("leaves the socket of a server", async () => {
    const path = socketPath(folder, "api");
    await listen(path);
    await reserveSocket(path);
    expect(await connectError(path)).toBeNull();
  });
});

describe("removeSocket()", () => {
  it("lets another server listen, and accepts an absent file", async () => {
    const path = socketPath(folder, "api");
    await reserveSocket(path);
    removeSocket(path);
    removeSocket(path);
    await listen(path);
    expect(await connectError(path)).toBeNull();
  });
});
