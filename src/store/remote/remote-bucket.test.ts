/** Refusals of a service, as callers of a bucket see them. */
import { describe, expect, it } from "vitest";
import {
  simulatedAnswer,
  simulatedContext,
} from "../../../test/store/support/simulated-connection.ts";
import { md5 } from "../core/hash.ts";
import { RemoteBucket } from "./remote-bucket.ts";
import { packHeaders } from "./remote-object.ts";
import { RemoteError, type S3Message } from "./s3-transport.ts";

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
      method === "PUT" ? [400, errorDocument("InvalidRequest")] : [404, errorDocument("NoSuchKey")],
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
    const { bucket, messages } = bucketOf(({ method, target }) => {
      if (method === "GET" && !target.includes("uploadId"))
        return [404, errorDocument("NoSuchKey")];
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

  it.each<["unequal tag" | "plain", true | undefined, object, number]>([
    ["unequal tag", true, {}, 1],
    ["unequal tag", undefined, {}, 2],
    ["plain", true, {}, 2],
    ["unequal tag", true, { onlyIf: { uploadedAfter: -1 } }, 2],
  ])(
    "counts a put as overwritten after a lost race only if neither has a condition: %s, %s, %j",
    async (unconditionalPut, isUnconditional, condition, puts) => {
      const bytes = new Uint8Array([1]);
      const other = { version: "v", uploaded: 0, custom: {}, http: {}, checksums: {} } as const;
      const found = {
        ...packHeaders({ ...other, storageClass: "Standard", isUnconditional }),
        etag: `"${md5(new Uint8Array([2]))}"`,
        "content-length": "1",
      };
      let sent = 0;
      const remote = simulatedContext((_, { method }) => {
        if (method === "HEAD") return simulatedAnswer(200, found);
        return simulatedAnswer(++sent === 1 ? 409 : 200, { etag: `"${md5(bytes)}"` });
      });
      const features = { ...remote.features, unconditionalPut, putIfMatch: "quoted" } as const;
      const bucket = new RemoteBucket({ ...remote, features });
      const outcome = await bucket.execute({
        method: "put",
        key: "a",
        http: {},
        custom: {},
        storageClass: "Standard",
        content: { bytes, size: 1, checksums: { md5: md5(bytes) } },
        ...condition,
      });
      expect([outcome.ok, sent]).toEqual([true, puts]);
    },
  );

  it("asks what the service honours before its first write, once, and again after a failure", async () => {
    const remote = simulatedContext(({ searchParams }, { method }) =>
      method === "GET" || searchParams.has("uploads")
        ? simulatedAnswer(404, { text: errorDocument("NoSuchKey") })
        : simulatedAnswer(method === "DELETE" ? 204 : 404),
    );
    let asked = 0;
    const confirm = async () => {
      if (++asked === 1) throw new RemoteError("refused", "It lacks something.");
      return { ...remote.features, unconditionalDelete: true };
    };
    const bucket = new RemoteBucket(remote, { confirm });
    const remove = () => bucket.execute({ method: "delete", keys: ["a"] });
    expect(await bucket.execute({ method: "head", key: "a" })).toMatchObject({ value: null });
    expect(asked).toBe(0);
    const refused = await Promise.all([remove(), remove()]);
    expect(refused.map((each) => !each.ok && each.text)).toEqual([
      "It lacks something.",
      "It lacks something.",
    ]);
    expect(asked).toBe(1);
    expect(await Promise.all([remove(), remove()])).toMatchObject([{ ok: true }, { ok: true }]);
    expect(await remove()).toMatchObject({ ok: true });
    expect(asked).toBe(2);
  });

  it("asks again when an answer names a version, and acknowledges no write until the service has answered", async () => {
    const bytes = new Uint8Array([1]);
    const etag = `"${md5(bytes)}"`;
    let puts = 0;
    const hasVersions = { value: false };
    const remote = simulatedContext((_, { method }) => {
      if (method !== "PUT") return simulatedAnswer(404, { text: errorDocument("NoSuchKey") });
      puts++;
      return simulatedAnswer(200, {
        etag,
        ...(hasVersions.value && { "x-amz-version-id": "null" }),
      });
    });
    const asked: boolean[] = [];
    let refusal: RemoteError | null = null;
    const confirm = async (hasVersionIds: boolean) => {
      asked.push(hasVersionIds);
      if (refusal !== null) throw refusal;
      return remote.features;
    };
    const features = { ...remote.features, unconditionalPut: "plain" } as const;
    const bucket = new RemoteBucket({ ...remote, features }, { confirm, isConfirmed: true });
    const put = () =>
      bucket.execute({
        method: "put",
        key: "a",
        http: {},
        custom: {},
        storageClass: "Standard",
        content: { bytes, checksums: { md5: md5(bytes) } },
      });
    expect(await put()).toMatchObject({ ok: true });
    expect(asked).toEqual([]);
    hasVersions.value = true;
    refusal = new RemoteError("refused", "It lacks conditional-put.");
    const text =
      "The object may have been stored or not: It lacks conditional-put. Read the object to find out.";
    expect(await put()).toMatchObject({ ok: false, text, failure: { outcome: "unknown" } });
    const sent = puts;
    const refused = { text: "It lacks conditional-put.", failure: { outcome: "not executed" } };
    expect(await put()).toMatchObject({ ok: false, ...refused });
    expect([puts, asked]).toEqual([sent, [true, true]]);
    // Some services name versions of a bucket that has none.
    refusal = null;
    expect(await put()).toMatchObject({ ok: true });
    expect(await put()).toMatchObject({ ok: true });
    expect(asked).toEqual([true, true, true]);
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
