/** Completions of uploads: checksums of the object and of its parts, and parts that do not fit. */
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Received, Sent } from "./support/s3-client.ts";
import { useS3 } from "./support/running-s3.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });
const send = (sent: Omit<Sent, "target">, query = ""): Promise<Received> =>
  s3.client.send({ target: `/photos/key${query}`, ...sent });

const crcOf = (data: Uint8Array): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(data));
  return bytes;
};
const contents: Buffer[] = [Buffer.alloc(5 * 1024 * 1024, "a"), Buffer.from("the last part")];
const crcs = contents.map(crcOf);
const composite = crcOf(Buffer.concat(crcs)).toString("base64");
const whole = crcOf(Buffer.concat(contents)).toString("base64");

/** Creates an upload and its parts, with checksums. */
async function upload(
  headers: Record<string, string>,
  parts: readonly Buffer[] = contents,
): Promise<string> {
  const created = await send({ method: "POST", headers }, "?uploads");
  const id = /<UploadId>(.*?)</.exec(created.text)?.[1] as string;
  for (const [index, body] of parts.entries()) {
    const checksum = { "x-amz-checksum-crc32": crcOf(body).toString("base64") };
    const query = `?partNumber=${index + 1}&uploadId=${id}`;
    expect((await send({ method: "PUT", body, headers: checksum }, query)).status).toBe(200);
  }
  return id;
}

/** @param elements more elements of the first part */
function complete(
  id: string,
  {
    headers = {},
    elements = "",
    parts = contents,
  }: { headers?: Record<string, string>; elements?: string; parts?: readonly Buffer[] },
): Promise<Received> {
  const named = parts.map(
    (part, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${hash("md5", part)}</ETag>` +
      `<ChecksumCRC32>${crcOf(part).toString("base64")}</ChecksumCRC32>` +
      `${index === 0 ? elements : ""}</Part>`,
  );
  const body = `<CompleteMultipartUpload>${named.join("")}</CompleteMultipartUpload>`;
  return send({ method: "POST", body, headers }, `?uploadId=${id}`);
}

async function expectInProgress(id: string): Promise<void> {
  expect((await send({ method: "HEAD" })).status).toBe(404);
  expect((await send({}, `?uploadId=${id}`)).status).toBe(200);
  expect((await send({ method: "DELETE" }, `?uploadId=${id}`)).status).toBe(204);
}

const ofParts = { "x-amz-checksum-algorithm": "CRC32" };
const ofWhole = { ...ofParts, "x-amz-checksum-type": "FULL_OBJECT" };
const given = (value: string, type?: string) => ({
  "x-amz-checksum-crc32": value,
  ...(type !== undefined && { "x-amz-checksum-type": type }),
});

describe("the checksum of a completion", () => {
  it.each([
    ["with the number of the parts", ofParts, given(`${composite}-2`), `${composite}-2`],
    ["of minio-go", ofParts, given(composite), `${composite}-2`],
    ["with its type", ofParts, given(composite, "COMPOSITE"), `${composite}-2`],
    ["of the whole object", ofWhole, given(whole), whole],
    ["of the whole object with its type", ofWhole, given(whole, "FULL_OBJECT"), whole],
    ["of an upload without checksums", {}, given(whole), whole],
  ])("%s is accepted", async (_, created, headers, shown) => {
    const completed = await complete(await upload(created), { headers });
    expect([completed.status, completed.code]).toEqual([200, undefined]);
    expect(completed.text).toContain(`<ChecksumCRC32>${shown}</ChecksumCRC32>`);
    const read = await send({ headers: { "x-amz-checksum-mode": "ENABLED" } });
    expect(read.headers["x-amz-checksum-crc32"]).toBe(shown);
    expect(read.body.equals(Buffer.concat(contents))).toBe(true);
    await send({ method: "DELETE" });
  });

  it.each([
    ["another", ofParts, given(whole), 400, "BadDigest"],
    ["another number of parts", ofParts, given(`${composite}-3`), 400, "BadDigest"],
    ["a composite one", ofWhole, given(composite), 400, "BadDigest"],
    ["a composite one with a number", ofWhole, given(`${composite}-2`), 400, "InvalidRequest"],
    ["another type", ofParts, given(composite, "FULL_OBJECT"), 400, "InvalidRequest"],
    ["an unknown type", ofParts, given(composite, "HALF"), 400, "InvalidRequest"],
    ["one of SHA-512", ofParts, { "x-amz-checksum-sha512": "AAAA" }, 501, "NotImplemented"],
  ])("is refused: %s", async (_, created, headers, status, code) => {
    const id = await upload(created);
    const refused = await complete(id, { headers });
    expect([refused.status, refused.code]).toEqual([status, code]);
    await expectInProgress(id);
  });

  it("of a part has an algorithm that the server verifies", async () => {
    const id = await upload(ofParts);
    const elements = "<ChecksumXXHASH64>AAAAAAAAAAA=</ChecksumXXHASH64>";
    const refused = await complete(id, { elements });
    expect([refused.status, refused.code]).toEqual([501, "NotImplemented"]);
    expect(refused.text).toContain("The checksum algorithm XXHASH64 is not implemented.");
    await expectInProgress(id);
  });

  it("is chosen among the algorithms that the server verifies", async () => {
    const headers = { "x-amz-checksum-algorithm": "SHA512" };
    const refused = await send({ method: "POST", headers }, "?uploads");
    expect([refused.status, refused.code]).toEqual([501, "NotImplemented"]);
  });
});

it("a completion with parts of unequal sizes names the part and the sizes", async () => {
  const parts = [contents[0] as Buffer, Buffer.alloc(5 * 1024 * 1024 + 1), Buffer.from("end")];
  const id = await upload({}, parts);
  for (const named of [parts, parts.slice(0, 2)]) {
    const refused = await complete(id, { parts: named });
    expect([refused.status, refused.code]).toEqual([400, "InvalidPart"]);
    expect(refused.text).toContain(
      "<Message>All non-trailing parts must have the same length. Non Uniform Part Sizes: " +
        "Expected part 2 to have size 5242880, found 5242881</Message>",
    );
  }
  await expectInProgress(id);
});
