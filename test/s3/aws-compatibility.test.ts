/**
 * What clients of AWS send for copies in parts and the deployed service refuses: conditions of UploadPartCopy, and
 * requests for tags. A bucket with `s3_compatibility = "aws"` answers them.
 */
import { describe, expect, it } from "vitest";
import { bytesOf } from "../support/bytes.ts";
import { useS3 } from "./support/running-s3.ts";
import type { Received } from "./support/s3-client.ts";

const service = useS3({
  buckets: [{ name: "photos" }, { name: "aws", compatibility: "aws" }, { name: "remote" }],
});
/** Passes requests for the bucket `remote` on to the service. */
const gateway = useS3({
  buckets: () => {
    const { url: endpoint, credentials } = service.server;
    const place = { name: "cluster", endpoint, region: "auto", prefix: "p/", accept: [] };
    return [{ name: "remote", compatibility: "aws", remote: { ...place, credentials } }];
  },
});
const clientOf = (bucketName: string) => (bucketName === "remote" ? gateway : service).client;
const content = bytesOf(300_000, 1);
type Headers = Record<string, string>;

const answer = ({ status, code }: Received) => [status, code];

/** An object, and an upload that copies it. */
async function begin(bucketName: string) {
  const client = clientOf(bucketName);
  const { headers } = await client.send({
    method: "PUT",
    target: `/${bucketName}/source`,
    body: content,
  });
  const target = `/${bucketName}/copy`;
  const created = await client.send({ method: "POST", target: `${target}?uploads` });
  // As it is: minio-js does not encode ids.
  const uploadId = /<UploadId>(.*?)</.exec(created.text)?.[1];
  return {
    client,
    etag: headers.etag as string,
    copyPart: (conditions: Headers) =>
      client.send({
        method: "PUT",
        target: `${target}?partNumber=1&uploadId=${uploadId}`,
        headers: {
          "x-amz-copy-source": `/${bucketName}/source`,
          "x-amz-copy-source-range": "bytes=0-199999",
          ...conditions,
        },
      }),
    parts: async () => (await client.send({ target: `${target}?uploadId=${uploadId}` })).text,
    complete: (etag: string) =>
      client.send({
        method: "POST",
        target: `${target}?uploadId=${uploadId}`,
        body: `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`,
      }),
  };
}

const past = new Date(0).toUTCString();
const future = new Date(Date.now() + 86_400_000).toUTCString();

describe.each(["aws", "remote"])("the bucket %s", (bucketName) => {
  it("copies a part if the conditions on the source hold", async () => {
    const { client, etag, copyPart, parts, complete } = await begin(bucketName);
    const source = "x-amz-copy-source-if-";
    const failing: Headers[] = [
      { [`${source}match`]: '"other"' },
      { [`${source}none-match`]: etag },
      { [`${source}modified-since`]: future },
      { [`${source}unmodified-since`]: past },
      { [`${source}match`]: etag, [`${source}none-match`]: etag },
    ];
    for (const headers of failing) {
      expect(answer(await copyPart(headers))).toEqual([412, "PreconditionFailed"]);
    }
    expect(await parts()).not.toContain("<PartNumber>");
    const holding: Headers[] = [
      { [`${source}none-match`]: '"other"' },
      { [`${source}modified-since`]: past },
      { [`${source}unmodified-since`]: future },
      { [`${source}match`]: etag, [`${source}unmodified-since`]: past },
      { [`${source}match`]: etag },
    ];
    let part: Received | undefined;
    for (const headers of holding) {
      part = await copyPart(headers);
      expect(part.status).toBe(200);
    }
    // The source is replaced while it is copied.
    await client.send({ method: "PUT", target: `/${bucketName}/source`, body: "other" });
    expect((await copyPart({ [`${source}match`]: etag })).status).toBe(412);
    const partTag = /<ETag>(.*?)<\/ETag>/.exec(part?.text ?? "")?.[1] ?? "";
    expect((await complete(partTag)).status).toBe(200);
    const { body } = await client.send({ target: `/${bucketName}/copy` });
    expect(body.equals(content.subarray(0, 200_000))).toBe(true);
  });

  it("has objects without tags", async () => {
    const { client } = await begin(bucketName);
    const tags = await client.send({ target: `/${bucketName}/source?tagging` });
    expect([tags.status, tags.text]).toEqual([
      200,
      expect.stringMatching(/<Tagging[^>]*><TagSet(?:\/>|><\/TagSet>)<\/Tagging>/),
    ]);
    const absent = await client.send({ target: `/${bucketName}/absent?tagging` });
    expect(answer(absent)).toEqual([404, "NoSuchKey"]);
    const version = await client.send({ target: `/${bucketName}/source?tagging&versionId=1` });
    expect(answer(version)).toEqual([404, "NoSuchVersion"]);
  });

  it.each(["COPY", "REPLACE"])(
    "copies an object with the tagging directive %s",
    async (directive) => {
      const { client } = await begin(bucketName);
      const headers = {
        "x-amz-copy-source": `/${bucketName}/source`,
        "x-amz-tagging-directive": directive,
      };
      const target = `/${bucketName}/copied`;
      expect((await client.send({ method: "PUT", target, headers })).status).toBe(200);
      expect((await client.send({ target })).body.equals(content)).toBe(true);
      const tagged = { ...headers, "x-amz-tagging": "a=b" };
      expect(answer(await client.send({ method: "PUT", target, headers: tagged }))).toEqual([
        501,
        "NotImplemented",
      ]);
    },
  );
});

describe("a bucket without the option", () => {
  it("refuses what the deployed service refuses, names the option, and changes nothing", async () => {
    const { client, etag, copyPart, parts } = await begin("photos");
    const copied = { "x-amz-copy-source": "/photos/source", "x-amz-tagging-directive": "COPY" };
    const refused = [
      await copyPart({ "x-amz-copy-source-if-match": etag }),
      await client.send({ target: "/photos/source?tagging" }),
      await client.send({ method: "PUT", target: "/photos/copied", headers: copied }),
    ];
    for (const each of refused) {
      expect(answer(each)).toEqual([501, "NotImplemented"]);
      expect(each.text).toMatch(/s3_compatibility = (?:"|&quot;)aws(?:"|&quot;)/);
    }
    expect(await parts()).not.toContain("<PartNumber>");
    expect((await client.send({ target: "/photos/copied" })).status).toBe(404);
  });

  it("can be the source of a copy into a bucket with the option", async () => {
    const { client, etag } = await begin("photos");
    const created = await client.send({ method: "POST", target: "/aws/copy?uploads" });
    const uploadId = /<UploadId>(.*?)</.exec(created.text)?.[1];
    const target = `/aws/copy?partNumber=1&uploadId=${uploadId}`;
    const headers = { "x-amz-copy-source": "/photos/source", "x-amz-copy-source-if-match": etag };
    expect((await client.send({ method: "PUT", target, headers })).status).toBe(200);
  });
});
