/** Refusals of a service, as callers of a bucket see them. */
import { describe, expect, it } from "vitest";
import {
  simulatedAnswer,
  simulatedContext,
} from "../../../test/store/support/simulated-connection.ts";
import { md5 } from "../core/hash.ts";
import { RemoteBucket } from "./remote-bucket.ts";
import type { S3Message } from "./s3-transport.ts";

/** A bucket whose service answers with a status and a document. */
function bucketOf(answer: (message: S3Message) => readonly [status: number, text: string]) {
  const messages: S3Message[] = [];
  const remote = simulatedContext((_, message) => {
    messages.push(message);
    const [status, text] = answer(message);
    return simulatedAnswer(status, { text: message.method === "HEAD" ? "" : text });
  });
  return { bucket: new RemoteBucket(remote), messages };
}

const errorDocument = (code: string) => `<Error><Code>${code}</Code><Message>no</Message></Error>`;

describe("RemoteBucket", () => {
  it("names the key of a refused put without the prefix", async () => {
    const { bucket } = bucketOf(({ method }) =>
      method === "HEAD" ? [404, ""] : [400, errorDocument("InvalidRequest")],
    );
    const bytes = new Uint8Array([1]);
    const outcome = await bucket.execute({
      method: "put",
      key: "a/b",
      http: {},
      custom: {},
      storageClass: "Standard",
      content: { bytes, size: 1, checksums: { md5: md5(bytes) } },
    });
    expect(outcome).toMatchObject({
      code: 10001,
      text: 'Cannot store "a/b": the S3 service answered with InvalidRequest: no.',
    });
  });

  it("gives up a completion without a condition that the service always refuses as a conflict", async () => {
    const etag = "0".repeat(32);
    const part = `<Part><PartNumber>1</PartNumber><Size>1</Size><ETag>"${etag}"</ETag></Part>`;
    const { bucket, messages } = bucketOf(({ method }) => {
      if (method === "GET") return [200, `<ListPartsResult>${part}</ListPartsResult>`];
      if (method === "HEAD") return [404, ""];
      return [messages.length < 1000 ? 409 : 400, errorDocument("OperationAborted")];
    });
    const outcome = await bucket.execute({
      method: "completeUpload",
      key: "a",
      uploadId: "id",
      parts: [{ partNumber: 1, etag }],
    });
    expect(outcome).toMatchObject({ ok: false, code: 10058 });
    expect(messages.length).toBeLessThan(200);
  });

  it("refuses a key that is too long with the prefix", async () => {
    const { bucket } = bucketOf(() => [404, ""]);
    const outcome = await bucket.execute({ method: "head", key: "k".repeat(1020) });
    expect(outcome).toMatchObject({
      code: 10020,
      text: expect.stringMatching(/with the prefix "team\/" .* 1025 bytes/) as string,
    });
  });
});
