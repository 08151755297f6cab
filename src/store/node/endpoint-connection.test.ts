import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { EndpointConnection } from "./endpoint-connection.ts";

/** A connection to a server that answers with the length of the body. */
async function connect(
  readBody: (request: IncomingMessage) => Promise<Buffer[]> = (request) => request.toArray(),
): Promise<EndpointConnection> {
  const folder = mkdtempSync(join(tmpdir(), "ledge-unit-"));
  const path = join(folder, "endpoint");
  const server = createServer(async (request, response) => {
    // The client may end the connection.
    const pieces = await readBody(request).catch(() => []);
    response.end(String(Buffer.concat(pieces).length));
  });
  server.listen(path);
  await once(server, "listening");
  const connection = new EndpointConnection(path, () => {});
  onTestFinished(() => {
    connection.close();
    server.close();
    rmSync(folder, { recursive: true });
  });
  return connection;
}

const head = (length: number): string =>
  `POST / HTTP/1.1\r\nhost: store\r\ncontent-length: ${length}\r\n\r\n`;
const piece = Buffer.alloc(300_000);
const text = (body: Uint8Array): string => new TextDecoder().decode(body);

it("sends any number of streams over one connection", async () => {
  const warned = vi.fn();
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const connection = await connect();
  for (let count = 0; count < 15; count++) {
    const content = Readable.from([piece, piece]);
    const { body } = await connection.send(head(600_000), content);
    expect(text(body)).toBe("600000");
  }
  expect(connection.isOpen).toBe(true);
  // A warning is emitted in a later turn.
  await setImmediate();
  expect(warned).not.toHaveBeenCalled();
});

it("rejects with the error of a stream, and cannot be used again", async () => {
  const connection = await connect();
  const content = Readable.from(
    (async function* () {
      yield piece;
      throw new Error("the file cannot be read");
    })(),
  );
  await expect(connection.send(head(600_000), content)).rejects.toThrow("the file cannot be read");
  expect(connection.isOpen).toBe(false);
});

it("reads no further when the endpoint has answered", async () => {
  const connection = await connect(async () => []);
  let isEnded = false;
  const content = Readable.from(
    (async function* () {
      try {
        for (;;) yield piece;
      } finally {
        isEnded = true;
      }
    })(),
  );
  const { status } = await connection.send(head(1_000_000_000), content);
  expect(status).toBe(200);
  await vi.waitFor(() => expect(isEnded).toBe(true));
});
