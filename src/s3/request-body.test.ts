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
  options: Partial<DecodeOptions> & { length: number },
  cuts: readonly number[] = [],
) {
  const trailer = new Map<string, string>();
  const source = (async function* () {
    const ends = [...cuts.toSorted((left, right) => left - right), body.length];
    for (const [index, end] of ends.entries()) yield body.subarray(ends[index - 1] ?? 0, end);
  })();
  const framing = { isSigned: false, hasTrailer: false, trailerField: null, ...options };
  const chunks = decodeChunks({ source, signing }, framing, trailer);
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return { text: Buffer.concat(pieces).toString("latin1"), trailer: Object.fromEntries(trailer) };
}

const unsignedTrailer = { hasTrailer: true, trailerField: "x-amz-checksum-crc32" } as const;
const signedTrailer = { ...unsignedTrailer, isSigned: true } as const;

type DecodeOptions = Parameters<typeof decodeChunks>[1];

/**
 * A body as a client with the key writes it.
 *
 * @param endOfLine of the fields of the trailer
 */
function encode(
  chunks: readonly string[],
  trailer?: Record<string, string>,
  endOfLine = "\r\n",
): Buffer {
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
    const fields = lines.map((line) => `${line}${endOfLine}`);
    parts.push(...fields, `x-amz-trailer-signature:${signature}\r\n`);
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
    const options = { ...signedTrailer, length: 11 };
    const everywhere = Array.from(body.keys());
    // In two and three pieces, the second of 0 to 2 octets, and octet by octet.
    const cuts = everywhere.flatMap((at) => [0, 1, 2].map((length) => [at, at + length]));
    for (const cut of [...cuts, everywhere]) {
      results.add(JSON.stringify(await decode(body, options, cut)));
    }
    expect(Array.from(results, (text) => JSON.parse(text))).toEqual([expected]);
  });

  it("refuses a trailer with another signature", async () => {
    const body = encode(["data"], { "x-amz-checksum-crc32": "AAAAAA==" });
    const altered = Buffer.from(body.toString().replace("AAAAAA==", "AAAAAQ=="));
    const options = { ...signedTrailer, length: 4 };
    await expect(decode(altered, options)).rejects.toThrow("does not match");
    expect((await decode(encode(["data"], {}), { ...options, trailerField: null })).text).toBe(
      "data",
    );
  });

  it("decodes chunks without signatures, and a trailer whose line ends with LF", async () => {
    const body = "4\r\ndata\r\n0\r\nx-amz-checksum-crc32:rfPzYw==\n\r\n";
    expect(await decode(Buffer.from(body), { ...unsignedTrailer, length: 4 })).toEqual({
      text: "data",
      trailer: { "x-amz-checksum-crc32": "rfPzYw==" },
    });
    expect((await decode(Buffer.from("0\r\n"), { length: 0 })).text).toBe("");
  });

  it("decodes what minio-go writes: an empty line after the field, before the signature or the end", async () => {
    const trailer = { "x-amz-checksum-crc32": "rfPzYw==" };
    const signed = encode(["data"], trailer, "\n\r\n");
    expect(await decode(signed, { ...signedTrailer, length: 4 })).toEqual({
      text: "data",
      trailer,
    });
    const unsigned = "4\r\ndata\r\n0\r\nx-amz-checksum-crc32:rfPzYw==\n\r\n\r\n";
    const options = { ...unsignedTrailer, length: 4 };
    expect(await decode(Buffer.from(unsigned), options)).toEqual({ text: "data", trailer });
    // One empty line, and no more.
    await expect(decode(Buffer.from(`${unsigned}\r\n`), options)).rejects.toThrow("follow");
    const twice = encode(["data"], trailer, "\n\r\n\r\n");
    await expect(decode(twice, { ...signedTrailer, length: 4 })).rejects.toThrow("trailing data");
    const extended = Buffer.concat([signed, Buffer.from("\r\n")]);
    await expect(decode(extended, { ...signedTrailer, length: 4 })).rejects.toThrow("follow");
    const empty = Buffer.from("4\r\ndata\r\n0\r\n\r\n\r\n");
    await expect(decode(empty, { ...options, trailerField: null })).rejects.toThrow("follow");
  });

  const crc32 = "x-amz-checksum-crc32:rfPzYw==";
  it.each([
    ["that no header announces", `${crc32}\r\n`, { trailerField: null }],
    ["in a body that has none", `${crc32}\r\n`, { trailerField: null, hasTrailer: false }],
    ["with another field", "x-amz-checksum-crc32c:rfPzYw==\r\n", {}],
    ["with a field after the announced one", `${crc32}\r\nx-amz-meta-a:b\r\n`, {}],
    ["with a field before the announced one", `x-amz-meta-a:b\r\n${crc32}\r\n`, {}],
    ["that repeats its field", `${crc32}\r\n${crc32}\r\n`, {}],
    ["with a signature in an unsigned body", `x-amz-trailer-signature:${"0".repeat(64)}\r\n`, {}],
    ["without its field", "", {}],
    ["that has no name", "rfPzYw==\r\n", {}],
  ])("refuses a trailer %s", async (_, trailer, options) => {
    const body = Buffer.from(`4\r\ndata\r\n0\r\n${trailer}\r\n`);
    const refused = decode(body, { ...unsignedTrailer, length: 4, ...options });
    await expect(refused).rejects.toThrow("trailing data");
  });

  it("refuses a signed trailer without a signature", async () => {
    const body = encode(["data"], { "x-amz-checksum-crc32": "rfPzYw==" }).toString();
    const [head = ""] = body.split("x-amz-trailer-signature");
    const options = { ...signedTrailer, length: 4 };
    const ended = Buffer.from(`${head}\r\n\r\n`);
    await expect(decode(ended, options)).rejects.toThrow("trailing data");
    await expect(decode(Buffer.from(head), options)).rejects.toThrow("number of bytes");
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
        fc.constantFrom({}, { hasTrailer: true }, unsignedTrailer, signedTrailer),
        async (bytes, options) => {
          try {
            await decode(Buffer.from(bytes), { ...options, length: 4 });
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

const bodyOf = (
  headers: Record<string, string>,
  { payload = null, text = "" }: { payload?: string | null; text?: string } = {},
): RequestBody =>
  new RequestBody({
    headers: new Map(Object.entries(headers)),
    payload,
    signing: null,
    source: (async function* () {
      if (text !== "") yield Buffer.from(text);
    })(),
  });
const trailerOf = (algorithm: string) => ({
  headers: { "x-amz-trailer": `x-amz-checksum-${algorithm}`, "x-amz-decoded-content-length": "4" },
  text: `4\r\ndata\r\n0\r\nx-amz-checksum-${algorithm}:`,
  payload: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
});

describe("RequestBody", () => {
  it("verifies the checksum and the MD5 that the client sends before the body", () => {
    const before = bodyOf({
      "x-amz-checksum-crc32": "NhCmhg==",
      "content-md5": "XUFAKrxLKna5cZ2REBfFkg==",
    });
    expect(before.requiredAlgorithms).toEqual(["md5", "crc32"]);
    const md5 = "5d41402abc4b2a76b9719d911017c592";
    expect(() => before.verify({ md5, crc32: "3610a686" })).not.toThrow();
    expect(() => before.verify({ md5, crc32: "adf3f363" })).toThrow(
      "You provided a CRC32 checksum with value: NhCmhg==\nActual CRC32 was: rfPzYw==",
    );
    expect(() => before.verify({ md5: "00", crc32: "3610a686" })).toThrow(
      "You provided a MD5 checksum with value: XUFAKrxLKna5cZ2REBfFkg==\nActual MD5 was: AA==",
    );
    // The checksum in the headers of a completion is that of the object.
    expect(() => before.verify({ md5 }, "object")).not.toThrow();
  });

  it("verifies the checksum that the client sends after the body", async () => {
    const { headers, text, payload } = trailerOf("crc32");
    const after = bodyOf(headers, { payload, text: `${text}rfPzYw==\r\n\r\n` });
    expect(after.checksumAlgorithm).toBe("crc32");
    expect(await after.document("object")).toBe("data");
    const other = bodyOf(headers, { payload, text: `${text}rfPzYg==\r\n\r\n` });
    await expect(other.document("object")).rejects.toThrow("did not match");
    const none = bodyOf(headers, { payload, text: `${text}rfPz\r\n\r\n` });
    await expect(none.document()).rejects.toThrow(
      "Value for x-amz-checksum-crc32 trailing header is invalid.",
    );
  });

  it.each([
    [{ "content-md5": "no" }, "checksum or Content-MD5 you specified is not valid"],
    [{ "x-amz-checksum-crc32": "NhCm" }, "Value for x-amz-checksum-crc32 header is invalid."],
    [{ "x-amz-checksum-crc32": "a", "x-amz-checksum-sha1": "b" }, "Expecting a single"],
    [
      { "x-amz-checksum-crc32": "NhCmhg==", "x-amz-trailer": "x-amz-checksum-crc32" },
      "Expecting a single",
    ],
    [{ "x-amz-checksum-sha512": "a" }, "The checksum algorithm SHA512 is not implemented."],
    [{ "x-amz-checksum-md5": "a" }, "The checksum algorithm MD5 is not implemented."],
    [{ "x-amz-checksum-xxhash64": "a" }, "The checksum algorithm XXHASH64 is not implemented."],
    [{ "x-amz-checksum-xxhash3": "a" }, "The checksum algorithm XXHASH3 is not implemented."],
    [{ "x-amz-checksum-xxhash128": "a" }, "The checksum algorithm XXHASH128 is not implemented."],
    [{ "x-amz-trailer": "x-amz-checksum-sha512" }, "SHA512 is not implemented."],
    [{ "x-amz-checksum-adler": "a" }, "The algorithm type you specified"],
    [{ "x-amz-trailer": "x-amz-meta-a" }, "in the x-amz-trailer header is not supported"],
    [{ "x-amz-trailer": "x-amz-meta-abc-crc32" }, "header is not supported"],
    [{ "x-amz-trailer": "x-amz-checksum-adler" }, "header is not supported"],
    [{ "x-amz-trailer": "x-amz-checksum-crc32,x-amz-checksum-sha1" }, "is not supported"],
    // The body has no trailer.
    [{ "x-amz-trailer": "x-amz-checksum-crc32" }, "trailing data"],
  ])("refuses %j", (headers, text) => {
    expect(() => bodyOf(headers as unknown as Record<string, string>)).toThrow(text);
  });

  it("takes headers with the prefix of checksums that are none", () => {
    const headers = {
      "x-amz-checksum-mode": "ENABLED",
      "x-amz-checksum-type": "FULL_OBJECT",
      "x-amz-checksum-algorithm": "CRC32",
    };
    expect(bodyOf(headers).requiredAlgorithms).toEqual(["md5"]);
  });

  it.each([
    [{}, "no corresponding x-amz-checksum-* or x-amz-trailer headers were found"],
    [{ "content-md5": "XUFAKrxLKna5cZ2REBfFkg==" }, "no corresponding"],
    [{ "x-amz-checksum-sha1": "A".repeat(27) + "=" }, "Value for x-amz-sdk-checksum-algorithm"],
  ])("reads no body whose checksum has another algorithm than its name: %j", (headers, text) => {
    const named = bodyOf({ "x-amz-sdk-checksum-algorithm": "CRC32", ...headers });
    expect(() => named.chunks()).toThrow(text);
  });

  it("reads a body whose checksum has the algorithm that is named", () => {
    const name = { "x-amz-sdk-checksum-algorithm": "crc32" };
    const { headers, payload } = trailerOf("crc32");
    expect(() => bodyOf({ ...name, "x-amz-checksum-crc32": "NhCmhg==" }).chunks()).not.toThrow();
    expect(() => bodyOf({ ...name, ...headers }, { payload }).chunks()).not.toThrow();
    const other = bodyOf({ "x-amz-sdk-checksum-algorithm": "SHA512" });
    expect(() => other.chunks()).toThrow("SHA512 is not implemented");
  });
});
