/** Requests to servers that answer and close before they have the whole request, as workerd does. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage, request } from "node:http";
import {
  type AddressInfo,
  createServer,
  type ListenOptions,
  type Server,
  type Socket,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { passRequest } from "./pass-request.ts";

async function listen(server: Server, place: ListenOptions): Promise<void> {
  server.listen(place);
  await once(server, "listening");
  onTestFinished(() => void server.close());
}

/**
 * The response to a request through `passRequest()`. The next server answers and closes when it has the head, and
 * the proxy gets a piece of the body in the same turn, before it can have read the answer.
 */
async function answerBeforeBody(
  answer: (connection: Socket) => unknown,
): Promise<[number, string]> {
  const folder = mkdtempSync(join(tmpdir(), "ledge-pass-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // A write to a Unix socket whose other side has closed fails at once.
  const socketPath = join(folder, "server");
  let received: IncomingMessage | undefined;
  const nextServer = createServer((connection) => {
    connection.once("data", () => {
      answer(connection);
      received?.emit("data", Buffer.from("the body"));
    });
  });
  await listen(nextServer, { path: socketPath });
  const proxy = createHttpServer((passed, response) => {
    received = passed;
    passRequest(passed, response, { socketPath });
  });
  await listen(proxy, { port: 0, host: "127.0.0.1" });
  const { port } = proxy.address() as AddressInfo;
  const headers = { "content-length": 1000 };
  const sent = request({ port, agent: false, method: "POST", headers });
  sent.on("error", () => {}).flushHeaders();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const body = await text(response).catch((error: NodeJS.ErrnoException) => `${error.code}`);
  sent.destroy();
  return [response.statusCode as number, body];
}

it.each([
  ["Content-Length: 9\r\n\r\ntoo large"],
  // Only the end of the connection ends this body.
  ["\r\ntoo large"],
])("passRequest() returns a response that has come before the body: %j", async (rest) => {
  const response = answerBeforeBody((connection) => {
    connection.write(`HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\n${rest}`);
    connection.destroy();
  });
  expect(await response).toEqual([413, "too large"]);
});

it("passRequest() takes no part of a response for the whole, and answers 502 without a response", async () => {
  const part = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na part";
  expect(
    await answerBeforeBody((connection) => connection.write(part) && connection.destroy()),
  ).toEqual([200, "ECONNRESET"]);
  expect(await answerBeforeBody((connection) => connection.destroy())).toEqual([502, ""]);
});
