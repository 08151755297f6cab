import { once } from "node:events";
import { get } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createS3Server } from "./http-server.ts";
import type { S3Service } from "./s3-message.ts";

interface ServerOptions {
  readonly onError?: S3Service["onError"];
  readonly headersTimeout?: number;
}

async function listeningServer(
  find: S3Service["store"]["find"],
  { onError = () => {}, ...limits }: ServerOptions,
) {
  const served = {
    store: { find } as S3Service["store"],
    settingsOf: (name: string) => ({ name, public: true }),
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    hosts: [],
    onError,
  };
  const server = createS3Server(served, limits);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** A server whose store fails when the test says so, with a request that waits for the store. */
async function serverWithRequest() {
  const asked = Promise.withResolvers<void>();
  const store = Promise.withResolvers<never>();
  const find: S3Service["store"]["find"] = () => {
    asked.resolve();
    return store.promise;
  };
  const errors: unknown[] = [];
  const { server, port } = await listeningServer(find, { onError: (error) => errors.push(error) });
  get(`http://127.0.0.1:${port}/photos/key`).on("error", () => {});
  await asked.promise;
  const fail = async (error: Error): Promise<void> => {
    store.reject(error);
    await setImmediate();
  };
  return { server, errors, fail };
}

describe("createS3Server()", () => {
  it("reports an error that no client has caused", async () => {
    const { errors, fail } = await serverWithRequest();
    const error = new Error("the store fails");
    await fail(error);
    // The rules of CORS are in the store, too.
    expect(errors).toContain(error);
  });

  it("does not report requests that its end breaks off", async () => {
    const { server, errors, fail } = await serverWithRequest();
    server.close();
    await fail(new Error("the store is closed"));
    expect(errors).toEqual([]);
  });
});

/** A server without buckets, which answers requests for objects with 404. */
async function serverWithShortLimit() {
  const { port } = await listeningServer(async () => null, { headersTimeout: 400 });
  return {
    open: async (text: string): Promise<Socket> => {
      const socket = connect(port, "127.0.0.1");
      onTestFinished(() => void socket.destroy());
      await once(socket, "connect");
      socket.write(text);
      return socket;
    },
  };
}

/** What has arrived, once it has the text, or the connection has ended. */
async function received(socket: Socket, wanted: string): Promise<string> {
  let text = "";
  for await (const piece of socket.iterator({ destroyOnReturn: false })) {
    text += String(piece);
    if (text.includes(wanted)) break;
  }
  return text;
}

/** Less than the time after which Node looks by default, 30 s. */
const timeout = 25_000;

describe("createS3Server(): the head of a request", { timeout }, () => {
  it("that does not arrive in time is answered with 408, and the connection ends", async () => {
    const { open } = await serverWithShortLimit();
    const half = await open("GET /photos/key HTTP/1.1\r\nhost: loc");
    expect(await received(half, "\r\n\r\n")).toMatch(/^HTTP\/1\.1 408 /);
    expect(await received(half, "never")).toBe("");
  });

  it("has no time limit between two requests, and an upload has none", async () => {
    const { open } = await serverWithShortLimit();
    const idle = await open("GET /photos/key HTTP/1.1\r\nhost: localhost\r\n\r\n");
    expect(await received(idle, "</Error>")).toMatch(/^HTTP\/1\.1 404 /);
    const put = "PUT /photos/key HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n1";
    const upload = await open(put);
    expect(await received(upload, "</Error>")).toMatch(/^HTTP\/1\.1 400 /);
    // This connection is the last, and the first to end.
    const half = await open("GET");
    expect(await received(half, "never")).toMatch(/^HTTP\/1\.1 408 /);
    upload.write("2GET /photos/key HTTP/1.1\r\nhost: localhost\r\n\r\n");
    idle.write("GET /photos/key HTTP/1.1\r\nhost: localhost\r\n\r\n");
    expect(await received(upload, "</Error>")).toMatch(/^HTTP\/1\.1 404 /);
    expect(await received(idle, "</Error>")).toMatch(/^HTTP\/1\.1 404 /);
  });
});
