/**
 * Requests that are not valid besides their bodies (`bodies.test.ts`): signatures, lengths,
 * documents, parts. Each gets the error of S3, and nothing is left.
 */
import { text as textOf } from "node:stream/consumers";
import { describe, expect, it, vi } from "vitest";
import { useS3 } from "./support/running-s3.ts";
import { answerOf, S3TestClient, type Sent } from "./support/s3-client.ts";

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
    const socket = s3.client.open(put, { "content-length": String(body.length) }, body);
    vi.useRealTimers();
    expect(await answerOf(socket)).toContain("RequestTimeTooSkewed");
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
    const part: Sent = { method: "PUT", target, payload: "UNSIGNED-PAYLOAD" };
    const large = s3.client.open(part, { "content-length": String(5 * 1024 ** 3) });
    expect(await answerOf(large)).toContain("EntityTooLarge");

    const socket = s3.client.open(part, { "content-length": "9000000" }, body);
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
    ["that is empty", ""],
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

it("a document that is too long is refused", async () => {
  const long = "x".repeat(9 * 1024 * 1024);
  const refused = await s3.client.send({ method: "POST", target: "/photos?delete", body: long });
  expect([refused.status, refused.code]).toEqual([400, "MaxMessageLengthExceeded"]);
});

describe("a body", () => {
  it("without a length is refused, and is not an empty object", async () => {
    const answer = await textOf(s3.client.open({ ...put, body: "" }, { connection: "close" }));
    expect(answer).toContain("411 Length Required");
    expect(answer).toContain("<Code>MissingContentLength</Code>");
    await expectNothing();
  });

  it("with chunks of HTTP that are broken is not stored", async () => {
    const sent: Sent = {
      ...put,
      payload: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
      headers: { "x-amz-decoded-content-length": String(body.length) },
    };
    // The chunks of AWS are complete, and after them the last chunk of HTTP is missing.
    const content = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const chunk = `${content.length.toString(16)}\r\n${content}\r\n`;
    const socket = s3.client.open(sent, { "transfer-encoding": "chunked" }, chunk);
    await vi.waitFor(() => expect(s3.files("photos")).toHaveLength(1), waiting);
    socket.end("zz\r\n");
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 400 /);
    await vi.waitFor(() => expect(s3.files("photos")).toEqual([]), waiting);
    await expectNothing();
  });
});
