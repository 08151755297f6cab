/** Bodies: every form that a client can send, and what is left when one is not valid. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, expect, it, vi } from "vitest";
import { answerOf, base64Md5, signedChunks, type Sent } from "./support/s3-client.ts";
import { useS3 } from "./support/running-s3.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });
const send = (...args: Parameters<typeof s3.client.send>) => s3.client.send(...args);

const waiting = { timeout: 60_000, interval: 10 };

/** Large enough for a file. */
const chunks = ["a".repeat(100_000), "b".repeat(100_000), "c"];
const content = chunks.join("");
const crc32 = "x-amz-checksum-crc32";
/** Of `content` */
const checksum = "mrwd0w==";

function streaming(payload: string, headers: Record<string, string> = {}): Sent {
  return {
    method: "PUT",
    target: "/photos/streamed",
    payload,
    headers: { "x-amz-decoded-content-length": String(content.length), ...headers },
  };
}

const signed: Sent = {
  ...streaming("STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),
  chunks: (signing) => signedChunks(signing, chunks),
};
const signedTrailer: Sent = {
  ...streaming("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", { "x-amz-trailer": crc32 }),
  chunks: (signing) => signedChunks(signing, chunks, [crc32, checksum]),
};
const unsignedBody = `${chunks
  .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
  .join("")}0\r\n${crc32}:${checksum}\r\n\r\n`;
const unsignedTrailer: Sent = {
  ...streaming("STREAMING-UNSIGNED-PAYLOAD-TRAILER", {
    "x-amz-trailer": crc32,
    "content-encoding": "aws-chunked",
  }),
  chunks: () => unsignedBody,
};

/** The body of a request with some text replaced. */
function alter(sent: Sent, from: string, to: string): NonNullable<Sent["chunks"]> {
  return (signing) => String(sent.chunks?.(signing)).replace(from, to);
}

async function expectNothing(): Promise<void> {
  expect((await send({ method: "HEAD", target: "/photos/streamed" })).status).toBe(404);
  expect(s3.files("photos")).toEqual([]);
}

describe("a body", () => {
  it.each([
    ["in signed chunks", signed],
    ["in signed chunks with a trailer", signedTrailer],
    ["in chunks with a trailer", unsignedTrailer],
    [
      "in signed chunks with a trailer of minio-go",
      {
        ...signedTrailer,
        chunks: alter(signedTrailer, `${checksum}\r\n`, `${checksum}\n\r\n`),
      },
    ],
    [
      "in chunks with a trailer of minio-go",
      {
        ...unsignedTrailer,
        chunks: alter(unsignedTrailer, `${checksum}\r\n\r\n`, `${checksum}\n\r\n\r\n`),
      },
    ],
    [
      "without a hash",
      { ...signed, payload: "UNSIGNED-PAYLOAD", chunks: () => content, headers: {} },
    ],
  ])("%s is stored without its chunks", async (_, sent) => {
    const stored = await send(sent);
    expect([stored.status, stored.text]).toEqual([200, ""]);
    const got = await send({ target: "/photos/streamed" });
    expect(got.text === content).toBe(true);
    expect(got.headers["content-encoding"]).toBeUndefined();
    await send({ method: "DELETE", target: "/photos/streamed" });
    await expectNothing();
  });

  const plain: Sent = { method: "PUT", target: "/photos/streamed", body: content };
  const unsigned: Sent = { ...plain, payload: "UNSIGNED-PAYLOAD" };

  it.each<[string, Sent, number, string]>([
    [
      "an altered chunk",
      // Longer than a signature, which can have any hexadecimal digits.
      { ...signed, chunks: alter(signed, "b".repeat(65), "x".repeat(65)) },
      403,
      "SignatureDoesNotMatch",
    ],
    [
      "an altered last chunk",
      { ...signed, chunks: alter(signed, "c\r\n0", "d\r\n0") },
      403,
      "SignatureDoesNotMatch",
    ],
    [
      "an altered trailer",
      { ...signedTrailer, chunks: alter(signedTrailer, checksum, "AAAAAA==") },
      403,
      "SignatureDoesNotMatch",
    ],
    [
      "another checksum",
      { ...unsignedTrailer, chunks: alter(unsignedTrailer, checksum, "AAAAAA==") },
      400,
      "BadDigest",
    ],
    [
      "no trailer",
      { ...unsignedTrailer, chunks: alter(unsignedTrailer, `${crc32}:${checksum}\r\n`, "") },
      400,
      "MalformedTrailerError",
    ],
    [
      "a second trailer",
      { ...unsignedTrailer, chunks: alter(unsignedTrailer, crc32, `${crc32}c:x\r\n${crc32}`) },
      400,
      "MalformedTrailerError",
    ],
    [
      "a trailer that is not announced",
      { ...unsignedTrailer, headers: { "x-amz-decoded-content-length": String(content.length) } },
      400,
      "MalformedTrailerError",
    ],
    [
      "a checksum before the body and another after it",
      {
        ...unsignedTrailer,
        headers: { ...unsignedTrailer.headers, "x-amz-checksum-sha1": `${"A".repeat(27)}=` },
      },
      400,
      "InvalidRequest",
    ],
    [
      "an announced trailer and no chunks",
      { ...plain, headers: { "x-amz-trailer": crc32 } },
      400,
      "MalformedTrailerError",
    ],
    [
      "the name of a checksum that it does not have",
      { ...plain, headers: { "x-amz-sdk-checksum-algorithm": "CRC32" } },
      400,
      "InvalidRequest",
    ],
    ...["md5", "sha512", "xxhash64", "xxhash3", "xxhash128"].flatMap(
      (algorithm): [string, Sent, number, string][] => [
        [
          `a checksum of ${algorithm}`,
          { ...plain, headers: { [`x-amz-checksum-${algorithm}`]: "AAAA" } },
          501,
          "NotImplemented",
        ],
        [
          `a trailer of ${algorithm}`,
          {
            ...unsignedTrailer,
            headers: { ...unsignedTrailer.headers, "x-amz-trailer": `x-amz-checksum-${algorithm}` },
          },
          501,
          "NotImplemented",
        ],
      ],
    ),
    [
      "no last chunk",
      { ...signed, chunks: (signing) => signedChunks(signing, chunks).slice(0, 200_100) },
      400,
      "IncompleteBody",
    ],
    [
      "a broken chunk",
      { ...unsignedTrailer, chunks: alter(unsignedTrailer, "186a0", "zzz") },
      400,
      "InvalidRequest",
    ],
    ["no length", { ...signed, headers: {} }, 411, "MissingContentLength"],
    ["an unknown form", { ...signed, payload: "STREAMING-OTHER" }, 501, "NotImplemented"],
    ["another hash", { ...plain, payload: "0".repeat(64) }, 400, "XAmzContentSHA256Mismatch"],
    ["a hash that is none", { ...plain, payload: "none" }, 400, "InvalidArgument"],
    ["another MD5", { ...plain, headers: { "content-md5": base64Md5("x") } }, 400, "BadDigest"],
    ["an MD5 that is none", { ...plain, headers: { "content-md5": "x" } }, 400, "InvalidDigest"],
    ["another CRC", { ...plain, headers: { [crc32]: "AAAAAA==" } }, 400, "BadDigest"],
    ["a long key", { ...plain, target: `/photos/${"k".repeat(1025)}` }, 400, "InvalidObjectName"],
    [
      "large metadata",
      { ...plain, headers: { "x-amz-meta-a": "m".repeat(8193) } },
      400,
      "MetadataTooLarge",
    ],
    ["no such bucket", { ...plain, target: "/none/streamed" }, 404, "NoSuchBucket"],
    [
      "no such upload",
      { ...plain, target: "/photos/streamed?partNumber=1&uploadId=none" },
      404,
      "NoSuchUpload",
    ],
  ])("with %s is refused, and nothing is left", async (_, sent, status, code) => {
    const refused = await send(sent);
    expect([refused.status, refused.code]).toEqual([status, code]);
    await expectNothing();
  });

  it("that is too large is refused before it is sent", async () => {
    const socket = s3.client.open(unsigned, { "content-length": String(5 * 1024 ** 3) });
    expect(await answerOf(socket)).toContain("EntityTooLarge");
    await expectNothing();
  });

  it("of a client that goes away is not stored", async () => {
    const length = { "content-length": "9000000" };
    const socket = s3.client.open(unsigned, length, "x".repeat(1_000_000));
    await vi.waitFor(() => expect(s3.files("photos")).toHaveLength(1), waiting);
    socket.destroy();
    await vi.waitFor(() => expect(s3.files("photos")).toEqual([]), waiting);
    await expectNothing();
  });
});

describe("Expect: 100-continue", () => {
  const expecting = { expect: "100-continue" };

  it("is answered before the body is sent", async () => {
    let continued = 0;
    const body = "x".repeat(200_000);
    const sent: Sent = { method: "PUT", target: "/photos/expected", body, headers: expecting };
    const stored = await send({ ...sent, onContinue: () => continued++ });
    expect([stored.status, continued]).toEqual([200, 1]);
    await send({ method: "DELETE", target: "/photos/expected" });
  });

  it("is the only expectation: others are ignored", async () => {
    const options = { port: s3.server.port, path: "/photos/x", headers: { expect: "200" } };
    const message = await new Promise<IncomingMessage>((resolve) => {
      httpRequest({ host: "127.0.0.1", ...options }, resolve).end();
    });
    // The request has no signature.
    expect(message.statusCode).toBe(400);
    message.resume();
  });

  it("is not answered for a request that is refused", async () => {
    let continued = 0;
    const onContinue = () => continued++;
    const refusedRequests: Sent[] = [
      { method: "PUT", target: "/none/x", body: "x", headers: expecting, onContinue },
      {
        method: "PUT",
        target: "/photos/x",
        body: "x",
        headers: expecting,
        isAnonymous: true,
        onContinue,
      },
      {
        method: "PUT",
        target: "/photos/x",
        body: "x",
        headers: { ...expecting, "x-amz-storage-class": "NO" },
        onContinue,
      },
    ];
    const refused = await Promise.all(refusedRequests.map(send));
    expect(refused.map(({ status, headers }) => [status, headers.connection])).toEqual([
      [404, "close"],
      [400, "close"],
      [400, "close"],
    ]);
    expect(continued).toBe(0);
  });
});
