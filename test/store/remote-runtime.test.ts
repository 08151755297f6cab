/** The connection to an S3 service inside workerd: `fetch` through a `network` service. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeComponent } from "../../src/http/uri.ts";
import { useS3 } from "../s3/support/running-s3.ts";
import { raw, rawError, startRawServer, type RawAnswer } from "./support/raw-server.ts";
import {
  startRemoteRuntime,
  type RemoteRuntime,
  type SentByRuntime,
} from "./support/remote-runtime.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });
const folder = mkdtempSync(join(tmpdir(), "ledge-remote-"));
let runtime: RemoteRuntime;
beforeAll(async () => {
  runtime = await startRemoteRuntime(folder);
});
afterAll(async () => {
  await runtime?.stop();
  rmSync(folder, { recursive: true });
});

const place = { remote: "cluster", region: "us-east-1", bucketName: "photos", prefix: "" };
const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
type Sent = Omit<SentByRuntime, "place" | "credentials">;

const sendTo = (endpoint: string, sent: Sent) =>
  runtime.send({ place: { ...place, endpoint }, credentials, ...sent });

/** To our own endpoint. */
function send(sent: Sent) {
  const endpoint = `http://127.0.0.1:${s3.server.port}`;
  return runtime.send({
    place: { ...place, endpoint },
    credentials: s3.server.credentials,
    ...sent,
  });
}

describe("a script in workerd", () => {
  it.each(["a b+c(d)*!'", "x/../y", "./a", "a/..", "a//b", "é😀", "%2F", "a?b#c"])(
    "puts, gets and deletes the key %s",
    async (key) => {
      const headers = { "content-type": "text/x; a=b" };
      expect(await send({ method: "PUT", key, headers, body: "text" })).toMatchObject({
        status: 200,
      });
      expect(await send({ method: "GET", key })).toMatchObject({ status: 200, text: "text" });
      expect(await send({ method: "HEAD", key })).toMatchObject({ status: 200, bytes: 0 });
      const listed = await s3.client.send({ target: "/photos?encoding-type=url" });
      expect(listed.text).toContain(`<Key>${encodeComponent(key)}</Key>`);
      expect(await send({ method: "DELETE", key })).toMatchObject({ status: 204 });
      expect(await send({ method: "GET", key })).toMatchObject({ status: 404 });
    },
  );

  it.each([".", ".."])("says that it cannot send the key %s", async (key) => {
    const { error } = await send({ method: "PUT", key, body: "text" });
    expect(error).toMatchObject({ name: "RemoteError", failure: "refused" });
    expect(error?.message).toContain(`The path /photos/${key} cannot be sent`);
  });

  it("streams content with its length, in both directions", async () => {
    const streamBytes = 3_000_001;
    expect(await send({ method: "PUT", key: "large", streamBytes })).toMatchObject({ status: 200 });
    const got = await send({ method: "GET", key: "large" });
    expect(got).toMatchObject({ status: 200, bytes: streamBytes });
    expect(got.headers?.["content-length"]).toBe(String(streamBytes));
  });

  it("gets content that is compressed as it is stored", async () => {
    const compressed = gzipSync("content").toString("latin1");
    const answer = raw(200, "", {
      "content-length": String(compressed.length),
      "content-encoding": "gzip",
    });
    const { endpoint } = await startRawServer(() => answer + compressed);
    const got = await sendTo(endpoint, { method: "GET", key: "a" });
    expect([got.bytes, got.text]).toEqual([compressed.length, compressed]);
  });

  it("fails when the content cannot be read, with the error of the content", async () => {
    const { endpoint, requests } = await startRawServer(() => raw(200));
    const sent = {
      method: "PUT",
      key: "a",
      streamBytes: 200_000,
      streamBreaksAfter: 65_536,
    } as const;
    expect((await sendTo(endpoint, sent)).error?.message).toBe("the disk failed");
    expect(requests).toHaveLength(0);
  });
});

describe("a service that misbehaves, from workerd", () => {
  const closes: RawAnswer = { text: "", ends: true };

  it("gets a read again, and a write once", async () => {
    const reads = await startRawServer(({ number }) => (number < 3 ? closes : raw(200, "content")));
    expect(await sendTo(reads.endpoint, { method: "GET", key: "a" })).toMatchObject({
      text: "content",
    });
    expect(reads.requests).toHaveLength(3);
    const writes = await startRawServer(() => closes);
    const { error } = await sendTo(writes.endpoint, { method: "PUT", key: "a", body: "text" });
    expect(error).toMatchObject({ name: "RemoteError", failure: "unknown" });
    expect(error?.message).toContain("gave no answer: Network connection lost. Check the service");
    expect(writes.requests).toHaveLength(1);
  });

  it("does not answer: a write is unknown", async () => {
    const { endpoint } = await startRawServer(() => null);
    const sent = { method: "PUT", key: "a", body: "text", answerMilliseconds: 1000 } as const;
    const { error } = await sendTo(endpoint, sent);
    expect(error).toMatchObject({ failure: "unknown" });
    expect(error?.message).toContain("did not answer within 1 s");
  });

  it.each<[string, RawAnswer, string]>([
    [
      "breaks off",
      { text: `${raw(200, "", { "content-length": "50" })}hello`, ends: true },
      "sent an incomplete answer",
    ],
    ["stalls", `${raw(200, "", { "content-length": "50" })}hello`, "only 5 bytes arrived in 1 s"],
  ])("has content that %s: the stream fails", async (_, answer, sentence) => {
    const { endpoint } = await startRawServer(() => answer);
    const sent = { method: "GET", key: "a", idleMilliseconds: 1000 } as const;
    const { error } = await sendTo(endpoint, sent);
    expect(error?.name).toBe("RemoteError");
    expect(error?.message).toContain(sentence);
  });

  it("redirects: the request is not sent elsewhere", async () => {
    const answer = rawError(307, "TemporaryRedirect", "<Region>eu-west-1</Region>");
    const { endpoint } = await startRawServer(() =>
      answer.replace("content-type", "location: http://127.0.0.1:1/\r\ncontent-type"),
    );
    const { error } = await sendTo(endpoint, { method: "GET", key: "a" });
    expect(error).toMatchObject({ failure: "refused" });
    expect(error?.message).toContain('Write region = "eu-west-1"');
  });
});
