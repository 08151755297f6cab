import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256, sign, signingKey, type SigningContext } from "./authorization.ts";
import { decodeChunks, RequestBody } from "./request-body.ts";

const scope = "20130524/us-east-1/s3/aws4_request";
/** AWS's example of a body in signed chunks. */
const signing: SigningContext = {
  key: signingKey("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", scope),
  dateText: "20130524T000000Z",
  scope,
  signature: "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
};
const example =
  `10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n${"a".repeat(65_536)}\r\n` +
  `400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n${"a".repeat(1024)}\r\n` +
  "0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n";

async function decode(
  body: Buffer,
  { isSigned = false, hasTrailer = false, length }: Partial<DecodeOptions> & { length: number },
  cuts: readonly number[] = [],
) {
  const trailer = new Map<string, string>();
  const source = (async function* () {
    const ends = [...cuts.toSorted((left, right) => left - right), body.length];
    for (const [index, end] of ends.entries()) yield body.subarray(ends[index - 1] ?? 0, end);
  })();
  const chunks = decodeChunks({ source, signing }, { isSigned, hasTrailer, length }, trailer);
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return { text: Buffer.concat(pieces).toString("latin1"), trailer: Object.fromEntries(trailer) };
}

type DecodeOptions = Parameters<typeof decodeChunks>[1];

/** A body as a client with the key writes it. */
function encode(chunks: readonly string[], trailer?: Record<string, string>): Buffer {
  let last = signing.signature;
  const next = (kind: string, ...hashes: string[]): string =>
    (last = sign(signing.key, [kind, signing.dateText, scope, last, ...hashes].join("\n")));
  const parts = [...chunks, ""].map((chunk) => {
    const signature = next("AWS4-HMAC-SHA256-PAYLOAD", sha256(""), sha256(chunk));
    const head = `${chunk.length.toString(16)};chunk-signature=${signature}\r\n`;
    return chunk === "" ? head : `${head}${chunk}\r\n`;
  });
  if (trailer !== undefined) {
    const lines = Object.entries(trailer).map(([name, value]) => `${name}:${value}`);
    const signature = next(
      "AWS4-HMAC-SHA256-TRAILER",
      sha256(lines.map((line) => `${line}\n`).join("")),
    );
    parts.push(...lines.map((line) => `${line}\r\n`), `x-amz-trailer-signature:${signature}\r\n`);
  }
  return Buffer.from(`${parts.join("")}\r\n`);
}

describe("decodeChunks()", () => {
  it("decodes AWS's example, and refuses each altered octet", async () => {
    const body = Buffer.from(example);
    const options = { isSigned: true, length: 66_560 };
    expect((await decode(body, options)).text).toBe("a".repeat(66_560));
    const accepted: number[] = [];
    // The data of the first chunk is all alike: some of its octets stand for all.
    for (let at = 0; at < body.length - 2; at += at > 100 && at < 65_500 ? 13_000 : 1) {
      // Not the case of a letter in hexadecimal text, which means the same.
      body[at] = (body[at] as number) ^ 0x01;
      await decode(body, options).then(
        () => accepted.push(at),
        () => {},
      );
      body[at] = (body[at] as number) ^ 0x01;
    }
    expect(accepted).toEqual([]);
  });

  it("decodes a body with a trailer at every cut", async () => {
    const body = encode(["hello ", "world"], { "x-amz-checksum-crc32": "DUoRhQ==" });
    const expected = { text: "hello world", trailer: { "x-amz-checksum-crc32": "DUoRhQ==" } };
    const results = new Set<string>();
    const options = { isSigned: true, hasTrailer: true, length: 11 };
    const everywhere = Array.from(body.keys());
    // In two and three pieces, the second of 0 to 2 octets, and octet by octet.
    const cuts = everywhere.flatMap((at) => [0, 1, 2].map((length) => [at, at + length]));
    for (const cut of [...cuts, everywhere]) {
      results.add(JSON.stringify(await decode(body, options, cut)));
    }
    expect(Array.from(results, (text) => JSON.parse(text))).toEqual([expected]);
  });

  it("refuses a trailer with another signature, and a trailer that was not announced", async () => {
    const body = encode(["data"], { "x-amz-checksum-crc32": "AAAAAA==" });
    const altered = Buffer.from(body.toString().replace("AAAAAA==", "AAAAAQ=="));
    const options = { isSigned: true, hasTrailer: true, length: 4 };
    await expect(decode(altered, options)).rejects.toThrow("does not match");
    await expect(decode(body, { ...options, hasTrailer: false })).rejects.toThrow(
      "the trailer is not valid",
    );
  });

  it("decodes chunks without signatures, and a trailer whose lines end with LF", async () => {
    const body = "4\r\ndata\r\n0\r\nx-amz-checksum-crc32:rfPwYg==\n\r\n";
    expect(await decode(Buffer.from(body), { hasTrailer: true, length: 4 })).toEqual({
      text: "data",
      trailer: { "x-amz-checksum-crc32": "rfPwYg==" },
    });
    expect((await decode(Buffer.from("0\r\n"), { length: 0 })).text).toBe("");
  });

  it.each([
    ["a body that ends in a chunk", "4\r\nda", "number of bytes"],
    ["a body without the last chunk", "4\r\ndata\r\n", "number of bytes"],
    ["fewer bytes than announced", "3\r\ndat\r\n0\r\n\r\n", "number of bytes"],
    ["more bytes than announced", "5\r\ndata!\r\n0\r\n\r\n", "number of bytes"],
    ["a size that is not hexadecimal", "x\r\n", "has no size"],
    ["a chunk that is too long", "4\r\ndata!\r\n", "longer than its size"],
    ["a line without an end", "1".repeat(2000), "too long"],
    ["bytes after the end", "4\r\ndata\r\n0\r\n\r\nmore\r\n", "follow the last chunk"],
  ])("refuses %s", async (_, body, text) => {
    await expect(decode(Buffer.from(body), { length: 4 })).rejects.toThrow(text);
  });

  it("throws nothing but S3Error", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 60 }),
        fc.boolean(),
        async (bytes, hasTrailer) => {
          try {
            await decode(Buffer.from(bytes), { hasTrailer, length: 4 });
            return true;
          } catch (error) {
            return (error as Error).name === "S3Error";
          }
        },
      ),
    );
    expect.assertions(0);
  });
});

const bodyOf = (headers: Record<string, string>): RequestBody =>
  new RequestBody({
    headers: new Map(Object.entries(headers)),
    payload: null,
    signing: null,
    source: (async function* () {})(),
  });

describe("RequestBody", () => {
  it("needs the checksum that the client announces before the body or after it", () => {
    const before = bodyOf({ "x-amz-checksum-crc32": "NhCmhg==" });
    expect(before.requiredAlgorithms).toEqual(["md5", "crc32"]);
    expect(() => before.verify({ crc32: "3610a686" })).not.toThrow();
    expect(() => before.verify({ crc32: "3610a687" })).toThrow("did not match");
    const after = bodyOf({
      "x-amz-trailer": "x-amz-checksum-crc64nvme",
      "content-md5": "XUFAKrxLKna5cZ2REBfFkg==",
    });
    expect(after.checksumAlgorithm).toBe("crc64nvme");
    expect(() => after.verify({ md5: "5d41402abc4b2a76b9719d911017c592" })).toThrow(
      "trailing data",
    );
    expect(() => after.verify({ md5: "00" })).toThrow("did not match");
  });

  it.each([
    [{ "content-md5": "no" }, "checksum or Content-MD5 you specified is not valid"],
    [{ "x-amz-checksum-crc32": "NhCm" }, "Value for x-amz-checksum-crc32 header is invalid."],
    [{ "x-amz-checksum-crc32": "a", "x-amz-checksum-sha1": "b" }, "Expecting a single"],
  ])("refuses %j", (headers, text) => {
    expect(() => bodyOf(headers as Record<string, string>)).toThrow(text);
  });
});
