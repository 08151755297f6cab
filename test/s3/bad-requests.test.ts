/**
 * Requests that are not valid besides their bodies (`bodies.test.ts`): signatures, lengths,
 * documents, parts. Each gets the error of S3, and nothing is left.
 */
import { connect } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { describe, expect, it, vi } from "vitest";
import { useS3 } from "./support/running-s3.ts";
import { S3TestClient, type Sent } from "./support/s3-client.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });
const waiting = { timeout: 60_000, interval: 10 };
const body = "x".repeat(200_000);
const put: Sent = { method: "PUT", target: "/photos/key", body };

async function expectNothing(): Promise<void> {
  const listed = await s3.client.send({ target: "/photos?list-type=2" });
  expect(listed.text).toContain("<KeyCount>0</KeyCount>");
  expect(s3.files("photos")).toEqual([]);
}

describe("a signature", () => {
  it("of another secret or another key id is refused", async () => {
    const { port, credentials } = s3.server;
    const secret = new S3TestClient({
      port,
      credentials: { ...credentials, secretAccessKey: "x" },
    });
    const keyId = new S3TestClient({ port, credentials: { ...credentials, accessKeyId: "x" } });
    const refused = [await secret.send(put), await keyId.send(put)];
    expect(refused.map(({ status, code }) => [status, code])).toEqual([
      [403, "SignatureDoesNotMatch"],
      [401, "Unauthorized"],
    ]);
    await expectNothing();
  });

  it("of yesterday is refused", async () => {
    vi.useFakeTimers({ now: Date.now() - 86_400_000, toFake: ["Date"] });
    const { headers } = s3.client.sign(put);
    vi.useRealTimers();
    const answer = await sendRaw(`PUT /photos/key`, headers, body);
    expect(answer).toContain("RequestTimeTooSkewed");
    await expectNothing();
  });
});

it("a form of a browser is not implemented", async () => {
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  const form = { method: "POST", target: "/photos", headers, body: "--x--", isAnonymous: true };
  expect(await s3.client.send(form)).toMatchObject({ status: 501, code: "NotImplemented" });
});

describe("a part", () => {
  it("that is too large or that ends halfway is not kept", async () => {
    const made = await s3.client.send({ method: "POST", target: "/photos/key?uploads" });
    const uploadId = /<UploadId>(.*?)</.exec(made.text)?.[1] as string;
    const target = `/photos/key?partNumber=1&uploadId=${uploadId}`;
    const { headers } = s3.client.sign({ method: "PUT", target, payload: "UNSIGNED-PAYLOAD" });
    const length = { "content-length": String(5 * 1024 ** 3) };
    expect(await sendRaw(`PUT ${target}`, { ...headers, ...length }, "")).toContain(
      "EntityTooLarge",
    );

    const socket = connect(s3.server.port, "127.0.0.1");
    socket.write(head(`PUT ${target}`, { ...headers, "content-length": "9000000" }));
    socket.write(body);
    await vi.waitFor(() => expect(s3.files("photos")).toHaveLength(1), waiting);
    socket.destroy();
    await vi.waitFor(() => expect(s3.files("photos")).toEqual([]), waiting);
    const parts = await s3.client.send({ target: `/photos/key?uploadId=${uploadId}` });
    expect(parts.text).not.toContain("<PartNumber>");
    const aborted = { method: "DELETE", target: `/photos/key?uploadId=${uploadId}` };
    expect((await s3.client.send(aborted)).status).toBe(204);
    await expectNothing();
  });
});

describe("a document", () => {
  const entities = `<!DOCTYPE x [<!ENTITY a "${"a".repeat(100)}"><!ENTITY b "${"&a;".repeat(100)}">]>`;
  const deep = `${"<x>".repeat(1000)}${"</x>".repeat(1000)}`;
  it.each([
    ["with entities of its own", `${entities}<Delete><Object><Key>&b;</Key></Object></Delete>`],
    // The rest of these documents is valid.
    ["with a DTD", `${entities}<Delete><Object><Key>b</Key></Object></Delete>`],
    ["of a thousand levels", `<Delete><Object><Key>b</Key>${deep}</Object></Delete>`],
    ["that does not end", "<Delete><Object>"],
    ["that is no XML", "Delete"],
  ])("%s is refused", async (_, document) => {
    const refused = await s3.client.send({
      method: "POST",
      target: "/photos?delete",
      body: document,
    });
    expect([refused.status, refused.code]).toEqual([400, "MalformedXML"]);
    await expectNothing();
  });
});

describe("a body", () => {
  it("without a length is refused, and is not an empty object", async () => {
    const { headers } = s3.client.sign({ ...put, body: "" });
    const socket = connect(s3.server.port, "127.0.0.1");
    socket.write(head("PUT /photos/key", { ...headers, connection: "close" }));
    const answer = await textOf(socket);
    expect(answer).toContain("411 Length Required");
    expect(answer).toContain("<Code>MissingContentLength</Code>");
    await expectNothing();
  });

  it("with chunks of HTTP that are broken is not stored", async () => {
    const { headers } = s3.client.sign({
      ...put,
      payload: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
      headers: { "x-amz-decoded-content-length": String(body.length) },
    });
    const chunked = { ...headers, "transfer-encoding": "chunked" };
    // The chunks of AWS are complete, and after them the last chunk of HTTP is missing.
    const content = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const socket = connect(s3.server.port, "127.0.0.1");
    socket.write(head("PUT /photos/key", chunked));
    socket.write(`${content.length.toString(16)}\r\n${content}\r\n`);
    await vi.waitFor(() => expect(s3.files("photos")).toHaveLength(1), waiting);
    socket.end("zz\r\n");
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 400 /);
    await vi.waitFor(() => expect(s3.files("photos")).toEqual([]), waiting);
    await expectNothing();
  });
});

function head(start: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${start} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Sends a request, and returns what arrives until the error or the end of the connection. */
async function sendRaw(
  start: string,
  headers: Record<string, string>,
  content: string,
): Promise<string> {
  const socket = connect(s3.server.port, "127.0.0.1");
  const isChunked = "transfer-encoding" in headers;
  const length = { "content-length": String(content.length) };
  socket.write(head(start, isChunked ? headers : { ...length, ...headers }));
  socket.write(content);
  let text = "";
  try {
    for await (const piece of socket) {
      text += String(piece);
      if (text.includes("</Error>")) break;
    }
  } catch {
    // The server may close the connection before it has read the content.
  }
  return text;
}
