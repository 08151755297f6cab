/** The connection to an S3 service that cannot be reached, fails, or breaks off. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import type { S3Request } from "../../src/store/remote/s3-connection.ts";
import { Authority } from "../../src/tls/authority.ts";
import { raw, rawError, startRawServer, type RawAnswer } from "./support/raw-server.ts";
import {
  connectTo,
  encode,
  failureOf,
  get,
  put,
  streamOf,
  textOf,
  transport,
} from "./support/remote-connection.ts";

afterAll(() => transport.close());

async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function openContent() {
  return { stream: streamOf([encode("content")]), length: 7 };
}

describe("a service that cannot be reached", () => {
  it.each<[string, S3Request]>([
    ["a read", get],
    ["a write", put],
  ])("has executed nothing: %s is repeated, and fails", async (_, request) => {
    const endpoint = `http://127.0.0.1:${await unusedPort()}`;
    let sleeps = 0;
    const sleep = async () => void sleeps++;
    const error = await failureOf(connectTo({ endpoint }, undefined, { sleep }).send(request));
    expect(error.failure).toBe("unreachable");
    expect(error.message).toMatch(
      /cannot be reached: connect ECONNREFUSED .*\. Check `endpoint`, and that the service is running\.$/,
    );
    expect(sleeps).toBe(4);
  });

  it("has a name that is not known", async () => {
    const error = await failureOf(connectTo({ endpoint: "http://s3.invalid" }).send(put));
    expect(error.failure).toBe("unreachable");
    expect(error.message).toMatch(
      /has a host name that cannot be resolved: .*s3\.invalid\. Check the host name/,
    );
  });

  it("has a certificate that is not trusted, and gets one request", async () => {
    const folder = mkdtempSync(join(tmpdir(), "ledge-remote-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const authority = Authority.open(join(folder, "https"), ["localhost"], new Date());
    const identity = authority.certify(["localhost"], new Date());
    const server = createHttps(identity, (_, response) => response.end()).listen(0, "localhost");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    let refused = 0;
    server.on("tlsClientError", () => refused++);
    const endpoint = `https://localhost:${(server.address() as AddressInfo).port}`;
    let sleeps = 0;
    const sleep = async () => void sleeps++;
    const error = await failureOf(connectTo({ endpoint }, undefined, { sleep }).send(put));
    expect(error.failure).toBe("unreachable");
    expect(error.message).toMatch(
      /has a certificate that is not trusted: .*NODE_EXTRA_CA_CERTS\)\.$/,
    );
    expect(sleeps).toBe(0);
  });
});

describe("a service that fails", () => {
  const closes: RawAnswer = { text: "", ends: true };
  const found = raw(200, "content");

  it.each<[string, RawAnswer]>([
    ["closes the connection", closes],
    ["answers 500", rawError(500, "InternalError")],
    ["answers 502 with a page", raw(502, "<html>")],
    ["answers 503", rawError(503, "SlowDown")],
    ["answers 504", raw(504)],
    ["answers 429", raw(429)],
    ["answers with half a head", { text: "HTTP/1.1 200 O", ends: true }],
  ])("gets a read again: it %s", async (_, failure) => {
    const { endpoint, requests } = await startRawServer(({ number }) =>
      number < 3 ? failure : found,
    );
    const { body } = await connectTo({ endpoint }).send(get);
    expect(await textOf(body)).toBe("content");
    expect(requests).toHaveLength(3);
  });

  it.each<[string, RawAnswer, string]>([
    ["closes the connection", closes, "unknown"],
    ["answers 500", rawError(500, "InternalError"), "unknown"],
    ["answers 502", raw(502), "unknown"],
    ["answers 503 without a document", raw(503), "unknown"],
    ["answers 429 with a page", raw(429, "<html>", { "retry-after": "1" }), "unknown"],
    ["answers 408 without a document", raw(408), "unknown"],
    ["answers 504", raw(504), "unknown"],
  ])("gets a write once: it %s", async (_, answer, failure) => {
    const { endpoint, requests } = await startRawServer(() => answer);
    expect((await failureOf(connectTo({ endpoint }).send(put))).failure).toBe(failure);
    expect(requests).toHaveLength(1);
  });

  it("gets a write again that may be executed twice, and remembers that it may have been", async () => {
    const { endpoint, requests } = await startRawServer(({ number }) =>
      number === 1 ? closes : rawError(503, "SlowDown"),
    );
    const request: S3Request = { method: "DELETE", key: "a", isRepeatable: true };
    expect((await failureOf(connectTo({ endpoint }).send(request))).failure).toBe("unknown");
    expect(requests).toHaveLength(5);
  });

  it.each([503, 429])("gets a write again after %i, with all of its content", async (status) => {
    const putOff = rawError(status, "SlowDown").replace("\r\n", "\r\nretry-after: 2\r\n");
    const { endpoint, requests } = await startRawServer(({ number }) =>
      number === 1 ? putOff : raw(200),
    );
    const delays: number[] = [];
    const sleep = async (delay: number) => void delays.push(delay);
    await connectTo({ endpoint }, undefined, { sleep }).send({ ...put, body: openContent });
    expect(requests.map((request) => request.body)).toEqual(["content", "content"]);
    expect(delays).toEqual([2000]);
  });

  it("has executed nothing after five times 503", async () => {
    const { endpoint, requests } = await startRawServer(() => rawError(503, "SlowDown"));
    const error = await failureOf(connectTo({ endpoint }).send(put));
    expect([error.failure, error.status, requests.length]).toEqual(["unreachable", 503, 5]);
    expect(error.message).toMatch(
      /asks for fewer requests, with status 503: SlowDown: Text\. It was asked 5 times in .* s\. Send fewer/,
    );
  });

  it("does not answer: a write is unknown", async () => {
    const { endpoint, requests } = await startRawServer(() => null);
    const options = { answerMilliseconds: 1000 };
    const error = await failureOf(connectTo({ endpoint }, undefined, options).send(put));
    expect([error.failure, requests.length]).toEqual(["unknown", 1]);
    expect(error.message).toContain("did not answer within 1 s.");
  });

  it.each<[string, RawAnswer, RegExp]>([
    [
      "breaks off",
      { text: `${raw(200, "", { "content-length": "50" })}hello`, ends: true },
      /sent an incomplete answer: /,
    ],
    ["stalls", `${raw(200, "", { "content-length": "50" })}hello`, /only 5 bytes arrived in 1 s/],
    [
      "breaks off in chunks",
      {
        text: `${raw(200, "", { "transfer-encoding": "chunked" }).replace(/content-length.*\r\n/, "")}5\r\nhello\r\n`,
        ends: true,
      },
      /sent an incomplete answer: /,
    ],
  ])("has content that %s: the stream fails", async (_, answer, sentence) => {
    const { endpoint } = await startRawServer(() => answer);
    const { body } = await connectTo({ endpoint }, undefined, { idleMilliseconds: 1000 }).send(get);
    const reader = body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("hello");
    expect((await failureOf(reader.read())).message).toMatch(sentence);
  });

  it("answers before it has the content: the content is not sent to its end", async () => {
    const { endpoint } = await startRawServer(() => rawError(403, "AccessDenied"), { hurry: true });
    let isCancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setImmediate(resolve));
        controller.enqueue(new Uint8Array(65_536));
      },
      cancel: () => void (isCancelled = true),
    });
    const body = async () => ({ stream, length: 2 ** 40 });
    const error = await failureOf(connectTo({ endpoint }).send({ ...put, body }));
    expect(error.message).toContain("denied access");
    await expect.poll(() => isCancelled).toBe(true);
  });
});

describe("content that cannot be read", () => {
  it.each([
    ["fails", [encode("a")], "The disk failed."],
    ["is too short", null, "The content has 1 bytes, and 7 were announced."],
  ])("ends the request: it %s", async (_, chunks, message) => {
    const { endpoint, requests } = await startRawServer(() => raw(200));
    const failing = async function* () {
      yield* chunks ?? [];
      throw new Error("The disk failed.");
    };
    const stream = chunks === null ? streamOf([encode("a")]) : streamOf(failing());
    const body = async () => ({ stream, length: 7 });
    await expect(connectTo({ endpoint }).send({ ...put, body })).rejects.toThrow(message);
    expect(requests).toHaveLength(0);
  });
});
