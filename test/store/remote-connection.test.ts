/** The connection to an S3 service: requests to our own endpoint, the sentences of refusals, reuse. */
import { afterAll, describe, expect, it } from "vitest";
import { probe } from "../../src/store/remote/probe.ts";
import type { RemoteCredentials, RemotePlace } from "../../src/store/remote/remote-options.ts";
import type { S3ConnectionOptions } from "../../src/store/remote/s3-connection.ts";
import { useS3 } from "../s3/support/running-s3.ts";
import { allFeatures } from "./support/remote-store.ts";
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

const s3 = useS3({ buckets: [{ name: "photos" }] });
afterAll(() => transport.close());

const connect = (
  place: Partial<RemotePlace> = {},
  credentials: Partial<RemoteCredentials> = {},
  options: S3ConnectionOptions = {},
) =>
  connectTo(
    { endpoint: `http://127.0.0.1:${s3.server.port}`, ...place },
    { ...s3.server.credentials, ...credentials },
    options,
  );

describe("S3Connection.send() to our own endpoint", () => {
  it.each(["a", "a b+c(d)*!'", "x/../y", "./a", "a//b", "é😀", "%2F", "..", "a?b#c"])(
    "puts, gets and deletes the key %s",
    async (key) => {
      const connection = connect();
      const stored = await connection.send({
        method: "PUT",
        key,
        body: encode(key),
        headers: { "content-type": "text/x; a=b" },
      });
      expect([stored.status, stored.error]).toEqual([200, null]);
      const got = await connection.send({ method: "GET", key });
      expect(got.headers.get("content-type")).toBe("text/x; a=b");
      expect(await textOf(got.body)).toBe(key);
      const head = await connection.send({ method: "HEAD", key });
      expect([head.status, head.body]).toEqual([200, null]);
      expect((await connection.send({ method: "DELETE", key })).status).toBe(204);
      const gone = await connection.send({ method: "GET", key });
      expect([gone.status, gone.error?.code]).toEqual([404, "NoSuchKey"]);
    },
  );

  it("streams content in both directions, with its length", async () => {
    const connection = connect();
    const chunk = new Uint8Array(100_000).fill(7);
    let opened = 0;
    const body = async () => {
      opened++;
      return {
        stream: streamOf(Array.from({ length: 30 }, () => chunk)),
        length: 3_000_000,
      };
    };
    expect((await connection.send({ method: "PUT", key: "large", body })).status).toBe(200);
    expect(opened).toBe(1);
    const got = await connection.send({ method: "GET", key: "large" });
    const bytes = await new Response(got.body).bytes();
    expect(bytes.length).toBe(3_000_000);
    expect(bytes.every((byte) => byte === 7)).toBe(true);
  });

  it("returns refusals that are results", async () => {
    const connection = connect();
    await connection.send(put);
    const headers = { "if-none-match": "*" };
    const refused = await connection.send({ ...put, headers });
    expect([refused.status, refused.error?.code]).toEqual([412, "PreconditionFailed"]);
    const range = await connection.send({ ...get, headers: { range: "bytes=100-" } });
    expect([range.status, range.error?.code]).toEqual([416, "InvalidRange"]);
    const digest = { "content-md5": "1B2M2Y8AsgTpgAmY7PhCfg==" };
    const bad = await connection.send({ ...put, headers: digest });
    expect([bad.status, bad.error?.code]).toEqual([400, "BadDigest"]);
  });
});

describe("a refusal is one sentence", () => {
  const hour = 3_600_000;

  it.each<[string, Parameters<typeof connect>, RegExp]>([
    [
      "a wrong access key id",
      [{}, { accessKeyId: "wrong" }],
      /does not know the access key id\. Correct access_key_id of \[remotes\.cluster\]\.$/,
    ],
    [
      "a wrong secret",
      [{}, { secretAccessKey: "wrong" }],
      /the secret access key does not belong to the access key id\. Correct secret_access_key of \[remotes\.cluster\]\.$/,
    ],
    [
      "a bucket that is not there",
      [{ bucketName: "films" }],
      /has no bucket "films"\. Create the bucket there, or correct bucket_name\.$/,
    ],
    [
      "a wrong region",
      [{ region: "mars" }],
      /refused the region "mars" \(InvalidRegionName: .*\)\. Correct region of \[remotes\.cluster\]\.$/,
    ],
    [
      "a clock that is off",
      [{}, {}, { now: () => Date.now() + hour }],
      /refused the time of this machine: it is \S+Z here and \S+Z there, a difference of (?:1 h|59 min 59 s|59 min)\. Set the clock that is wrong\.$/,
    ],
  ])("%s, for any method", async (_, args, sentence) => {
    const connection = connect(...args);
    const { server } = s3;
    const start = `The remote "cluster" (http://127.0.0.1:${server.port}) `;
    for (const request of [get, put, { method: "DELETE", key: "a" } as const]) {
      const { failure, message } = await failureOf(connection.send(request));
      expect(failure).toBe("refused");
      expect(message.startsWith(start)).toBe(true);
      expect(message).toMatch(sentence);
    }
    const { message } = await failureOf(probe(connection));
    expect(message).toMatch(sentence);
  });

  it("also for HEAD, whose answer has no document", async () => {
    const { message } = await failureOf(
      connect({}, { secretAccessKey: "wrong" }).send({ method: "HEAD", key: "a" }),
    );
    expect(message).toContain("the secret access key does not belong");
  });

  it.each<[string, RawAnswer, RegExp]>([
    [
      "another region",
      rawError(301, "PermanentRedirect", "<Region>eu-west-1</Region>"),
      /in the region "eu-west-1", and the configuration says "us-east-1"\. Write region = "eu-west-1"/,
    ],
    [
      "another region in a header",
      raw(301, "", { "x-amz-bucket-region": "eu-west-1" }),
      /Write region = "eu-west-1" in \[remotes\.cluster\]/,
    ],
    [
      "a malformed authorization",
      rawError(400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>"),
      /Write region = "eu-west-1"/,
    ],
    [
      "a redirect",
      raw(307, "", { location: "https://other.example/" }),
      /sends requests for the bucket "photos" to https:\/\/other\.example\/\. Correct endpoint/,
    ],
    [
      "a web server",
      raw(404, "<!doctype html><p>Not found"),
      /is no S3 service: the answer has status 404/,
    ],
    [
      "an expired token",
      rawError(400, "ExpiredToken"),
      /refused the session token, which has expired \(ExpiredToken\)\. Get new credentials/,
    ],
    [
      "missing rights",
      rawError(403, "AccessDenied"),
      /denied access to the bucket "photos" \(AccessDenied: Text\)\. Allow the access key of \[remotes\.cluster\]/,
    ],
    [
      "a method that is not there",
      rawError(501, "NotImplemented"),
      /does not support PUT: status 501, NotImplemented: Text\. Use a service that has it/,
    ],
  ])("%s", async (_, answer, sentence) => {
    const { endpoint, requests } = await startRawServer(() => answer);
    const { failure, message } = await failureOf(connect({ endpoint }).send(put));
    expect([failure, message]).toEqual(["refused", expect.stringMatching(sentence)]);
    expect(requests).toHaveLength(1);
  });
});

describe("connections", () => {
  it("carry one request after another, also after refusals", async () => {
    const answers = [
      raw(200, "a"),
      rawError(404, "NoSuchKey"),
      rawError(503, "SlowDown"),
      raw(200, "b"),
    ];
    const { endpoint, requests } = await startRawServer(({ number }) => answers[number - 1]!);
    const connection = connect({ endpoint });
    expect(await textOf((await connection.send(get)).body)).toBe("a");
    expect((await connection.send(get)).status).toBe(404);
    expect(await textOf((await connection.send(get)).body)).toBe("b");
    expect(requests.map((request) => request.connection)).toEqual([1, 1, 1, 1]);
  });

  it("that are closed while nothing is sent do not fail the next write", async () => {
    const server = await startRawServer(() => ({ text: raw(200), ends: true }));
    const connection = connect({ endpoint: server.endpoint });
    for (let count = 0; count < 5; count++) {
      await connection.send(put);
      await expect.poll(() => server.open()).toBe(0);
    }
    expect(server.requests).toHaveLength(5);
  });

  it("end when the caller cancels the content", async () => {
    const { endpoint, requests } = await startRawServer(() =>
      raw(200, "x".repeat(1000), { "content-length": "10000000" }),
    );
    const connection = connect({ endpoint });
    await (await connection.send(get)).body!.cancel();
    await (await connection.send(get)).body!.cancel();
    expect(requests.map((request) => request.connection)).toEqual([1, 2]);
  });
});

describe("probe() of our own endpoint", () => {
  it("finds every feature, and leaves nothing", async () => {
    const connection = connect();
    expect(await probe(connection)).toEqual(allFeatures);
    const listed = await connection.send({ method: "GET", query: [["prefix", "team/"]] });
    expect(await textOf(listed.body)).not.toContain("<Key>");
    const uploads = await connection.send({ method: "GET", query: [["uploads", ""]] });
    expect(await textOf(uploads.body)).not.toContain("<Upload>");
  });
});
