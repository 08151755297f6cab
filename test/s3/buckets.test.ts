/** Buckets, uploads in parts, rules of buckets, hosts, and credentials. */
import { readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startS3 } from "../../dist/index.js";
import { useS3 } from "./support/running-s3.ts";
import { answerOf, S3TestClient } from "./support/s3-client.ts";

const s3 = useS3({
  buckets: [
    { name: "photos" },
    {
      name: "site",
      public: true,
      cors: [
        {
          allowedOrigins: ["https://app.test"],
          allowedMethods: ["GET", "PUT"],
          allowedHeaders: ["*"],
        },
      ],
    },
  ],
  hosts: ["s3.test"],
});
const send = (...args: Parameters<typeof s3.client.send>) => s3.client.send(...args);
const element = (text: string, name: string) => new RegExp(`<${name}>([^<]*)<`).exec(text)?.[1];

const preflight = (origin: string) =>
  send({
    method: "OPTIONS",
    target: "/site/x",
    isAnonymous: true,
    headers: { origin, "access-control-request-method": "PUT" },
  });

const statusOf = (host: string, path: string) =>
  new Promise<number>((resolve, reject) => {
    const { port } = s3.server;
    const sent = request({ host: "127.0.0.1", port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode as number);
    });
    sent.on("error", reject).end();
  });

describe("buckets", () => {
  it("are created, found and deleted by requests", async () => {
    expect((await send({ method: "HEAD", target: "/made" })).status).toBe(404);
    expect((await send({ method: "PUT", target: "/made" })).status).toBe(200);
    expect((await send({ method: "PUT", target: "/made" })).status).toBe(200);
    expect((await send({ method: "HEAD", target: "/made" })).status).toBe(200);
    expect((await send({ target: "/" })).text).toContain("<Name>made</Name>");
    await send({ method: "PUT", target: "/made/key", body: "x" });
    const full = await send({ method: "DELETE", target: "/made" });
    expect([full.status, full.code]).toEqual([409, "BucketNotEmpty"]);
    await send({ method: "DELETE", target: "/made/key" });
    expect((await send({ method: "DELETE", target: "/made" })).status).toBe(204);
    expect((await send({ target: "/made/key" })).code).toBe("NoSuchBucket");
    expect((await send({ method: "PUT", target: "/No_Name" })).code).toBe("InvalidBucketName");
    const configured = await send({ method: "DELETE", target: "/photos" });
    expect([configured.status, configured.text]).toEqual([
      409,
      expect.stringContaining("configuration"),
    ]);
  });

  it("are created with the first object where the client asks for that", async () => {
    const headers = { "cf-create-bucket-if-missing": "true" };
    const put = { method: "PUT", target: "/soon/key", body: "x" };
    expect((await send(put)).code).toBe("NoSuchBucket");
    // The user of a presigned URL cannot add the header.
    const unsigned = s3.client.open(
      { ...put, target: "/later/key" },
      { ...headers, "content-length": "1", connection: "close" },
      "x",
    );
    expect(await answerOf(unsigned)).toContain("headers present in the request which were not");
    expect((await send({ method: "HEAD", target: "/later" })).status).toBe(404);
    expect((await send({ ...put, headers })).status).toBe(200);
  });

  it.each([
    ["/photos?location", 200, "auto"],
    ["/photos?encryption", 200, "AES256"],
    ["/photos?versioning", 200, "VersioningConfiguration"],
    ["/photos?tagging", 404, "NoSuchTagSet"],
    ["/photos?object-lock", 404, "ObjectLockConfigurationNotFoundError"],
    ["/photos?cors", 404, "NoSuchCORSConfiguration"],
    ["/photos?lifecycle", 200, "<ID>Default Multipart Abort Rule</ID>"],
    ["/photos?policy", 501, "GetBucketPolicy not implemented"],
    ["/none?location", 404, "NoSuchBucket"],
  ])("answer GET %s", async (target, status, text) => {
    const got = await send({ target });
    expect([got.status, got.text]).toEqual([status, expect.stringContaining(text)]);
  });

  it("keep lifecycle rules", async () => {
    const rule =
      "<Rule><ID>a</ID><Status>Enabled</Status><Prefix>tmp/</Prefix><AbortIncompleteMultipartUpload>" +
      "<DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>";
    const body = `<LifecycleConfiguration>${rule}</LifecycleConfiguration>`;
    expect((await send({ method: "PUT", target: "/photos?lifecycle", body })).status).toBe(200);
    expect((await send({ target: "/photos?lifecycle" })).text).toContain(rule);
    expect((await send({ method: "DELETE", target: "/photos?lifecycle" })).status).toBe(204);
    // The rule of the start does not come back, except with a new bucket.
    expect((await send({ target: "/photos?lifecycle" })).code).toBe("NoSuchLifecycleConfiguration");
    await send({ method: "PUT", target: "/again" });
    await send({ method: "DELETE", target: "/again?lifecycle" });
    await send({ method: "DELETE", target: "/again" });
    await send({ method: "PUT", target: "/again" });
    expect((await send({ target: "/again?lifecycle" })).text).toContain("Default Multipart");
    await send({ method: "DELETE", target: "/again" });
  });
});

describe("uploads in parts", () => {
  const part = "x".repeat(5 * 1024 * 1024);

  it("are listed, completed under conditions, and read by part", async () => {
    const created = await send({ method: "POST", target: "/photos/parts?uploads" });
    const uploadId = element(created.text, "UploadId") as string;
    const upload = `uploadId=${uploadId}`;
    const etags: (string | undefined)[] = [];
    for (const [index, body] of [part, "end"].entries()) {
      const target = `/photos/parts?partNumber=${index + 1}&${upload}`;
      etags.push((await send({ method: "PUT", target, body })).headers.etag);
    }
    const copied = await send({
      method: "PUT",
      target: `/photos/parts?partNumber=2&${upload}`,
      headers: { "x-amz-copy-source": "/photos/small", "x-amz-copy-source-range": "bytes=1-2" },
    });
    expect([copied.status, copied.code]).toEqual([404, "NoSuchKey"]);
    await send({ method: "PUT", target: "/photos/small", body: "0123" });
    const second = await send({
      method: "PUT",
      target: `/photos/parts?partNumber=2&${upload}`,
      headers: { "x-amz-copy-source": "/photos/small", "x-amz-copy-source-range": "bytes=1-2" },
    });
    etags[1] = element(second.text, "ETag")?.replaceAll("&quot;", '"');
    const listed = await send({ target: `/photos/parts?max-parts=1&${upload}` });
    expect([element(listed.text, "Size"), element(listed.text, "IsTruncated")]).toEqual([
      String(part.length),
      "true",
    ]);
    expect((await send({ target: "/photos?uploads" })).text).toContain(uploadId);
    const none = await send({ target: `/photos/parts?max-parts=0&${upload}` });
    expect([element(none.text, "Size"), element(none.text, "IsTruncated")]).toEqual([
      undefined,
      "false",
    ]);
    const parts = etags.map(
      (etag, index) =>
        `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag?.replaceAll('"', "&#34;")}</ETag></Part>`,
    );
    const complete = (headers: Record<string, string>) =>
      send({
        method: "POST",
        target: `/photos/parts?${upload}`,
        body: `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`,
        headers,
      });
    expect((await complete({ "if-match": '"no"' })).code).toBe("PreconditionFailed");
    expect((await complete({ "x-amz-mp-object-size": "1" })).code).toBe("InvalidRequest");
    const completed = await complete({ "if-none-match": "*" });
    expect(completed.status).toBe(200);
    expect(element(completed.text, "Location")).toContain("/photos/parts");
    const last = await send({ target: "/photos/parts?partNumber=2" });
    expect([last.status, last.text, last.headers["x-amz-mp-parts-count"]]).toEqual([
      206,
      "12",
      "2",
    ]);
    const head = await send({ method: "HEAD", target: "/photos/parts?partNumber=1" });
    expect(head.headers["content-length"]).toBe(String(part.length));
    expect((await send({ target: "/photos/parts?partNumber=3" })).status).toBe(416);
    expect((await complete({})).code).toBe("NoSuchUpload");
  });
});

describe("CORS", () => {
  it("follows the rules of the configuration until a request puts others", async () => {
    expect((await preflight("https://app.test")).headers).toMatchObject({
      "access-control-allow-origin": "https://app.test",
      "access-control-allow-methods": "GET, PUT",
    });
    expect((await preflight("https://other.test")).code).toBe("AccessForbidden");
    const missing = await send({
      target: "/site/none",
      isAnonymous: true,
      headers: { origin: "https://app.test" },
    });
    expect([missing.status, missing.headers["access-control-allow-origin"]]).toEqual([
      404,
      "https://app.test",
    ]);
    const stranger = new S3TestClient({
      port: s3.server.port,
      credentials: { ...s3.server.credentials, secretAccessKey: "other" },
    });
    const headers = { origin: "https://app.test" };
    const forged = await stranger.send({ method: "PUT", target: "/site/a", body: "x", headers });
    expect([forged.code, forged.headers["access-control-allow-origin"]]).toEqual([
      "SignatureDoesNotMatch",
      "https://app.test",
    ]);
    const foreign = { origin: "https://other.test" };
    const other = await stranger.send({ method: "PUT", target: "/site/a", headers: foreign });
    expect([other.status, other.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
    const rule =
      "<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>PUT</AllowedMethod></CORSRule>";
    const body = `<CORSConfiguration>${rule}</CORSConfiguration>`;
    await send({ method: "PUT", target: "/site?cors", body });
    expect((await preflight("https://other.test")).status).toBe(200);
    await send({ method: "DELETE", target: "/site?cors" });
    expect((await preflight("https://app.test")).code).toBe("AccessForbidden");
  });
});

describe("the server", () => {
  it("answers loopback names, configured hosts, and buckets before them", async () => {
    await send({ method: "PUT", target: "/site/a", body: "x" });
    expect(await statusOf("127.0.0.1", "/site/a")).toBe(200);
    expect(await statusOf("site.localhost:1", "/a")).toBe(200);
    expect(await statusOf("s3.test", "/site/a")).toBe(200);
    expect(await statusOf("site.s3.test", "/a")).toBe(200);
    expect(await statusOf("evil.test", "/site/a")).toBe(403);
  });

  it("gives each response an id", async () => {
    const [one, other] = await Promise.all([send({ target: "/" }), send({ target: "/" })]);
    expect(one.headers["x-amz-request-id"]).not.toBe(other.headers["x-amz-request-id"]);
  });

  it("makes credentials for a state folder once, in a private file", async () => {
    const file = join(s3.stateFolder, "v3", "s3", "credentials.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(s3.server.credentials);
    const second = await startS3({ stateFolder: s3.stateFolder, port: 0 });
    expect(second.credentials).toEqual(s3.server.credentials);
    await second.close();
  });
});
