/** Temporary credentials: session tokens with a bucket, operations and paths, as clients use them. */
import * as sdk from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { execFile } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { blocks, read, section } from "../docs/support/pages.ts";
import { temporaryFolder } from "../support/store.ts";
import { useS3 } from "./support/running-s3.ts";
import { S3TestClient } from "./support/s3-client.ts";

const s3 = useS3({ buckets: [{ name: "photos" }, { name: "other" }] });
const seconds = () => Math.floor(Date.now() / 1000);

interface Temporary {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

function temporary(claims: object): Temporary {
  const { accessKeyId, secretAccessKey } = s3.server.credentials;
  const common = { iss: accessKeyId, exp: seconds() + 900, bucket: "photos" };
  const signed = `${encode({ alg: "HS256" })}.${encode({ ...common, ...claims })}`;
  const jwt = `${signed}.${createHmac("sha256", secretAccessKey).update(signed).digest("base64url")}`;
  return {
    accessKeyId,
    secretAccessKey: createHash("sha256").update(jwt).digest("hex"),
    sessionToken: Buffer.from(`jwt/${jwt}`).toString("base64"),
  };
}

const sdkOf = (credentials: Temporary) =>
  new sdk.S3Client({
    region: "auto",
    endpoint: s3.server.url,
    forcePathStyle: true,
    credentials,
  });

/** The code of a request with the token in a header. */
async function codeOf(
  credentials: Temporary,
  method: string,
  target: string,
  { body = "", headers = {} }: { body?: string; headers?: Record<string, string> } = {},
): Promise<string | number> {
  const client = new S3TestClient({ port: s3.server.port, credentials });
  const token = { "x-amz-security-token": credentials.sessionToken };
  const { code, status } = await client.send({
    method,
    target,
    body,
    headers: { ...headers, ...token },
  });
  return code ?? status;
}

const document = (...keys: string[]) =>
  `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join("")}</Delete>`;
const exists = async (key: string) =>
  (await s3.client.send({ method: "HEAD", target: `/photos/${key}` })).status === 200;
const put = (key: string) =>
  s3.client.send({ method: "PUT", target: `/photos/${key}`, body: "content" });

describe("temporary credentials", () => {
  it("read, write and list by the AWS SDK within their paths", async () => {
    const paths = { prefixPaths: ["ada/"], objectPaths: ["shared.json"] };
    const client = sdkOf(temporary({ scope: "object-read-write", paths }));
    const Bucket = "photos";
    for (const Key of ["ada/cat", "shared.json"]) {
      await client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: "content" }));
      const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key }));
      expect(await Body?.transformToString()).toBe("content");
    }
    const listed = await client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix: "ada/" }));
    expect(listed.Contents?.map(({ Key }) => Key)).toEqual(["ada/cat"]);
    const refused = { name: "AccessDenied", $metadata: { httpStatusCode: 403 } };
    const outside = new sdk.PutObjectCommand({ Bucket, Key: "bob/cat", Body: "content" });
    await expect(client.send(outside)).rejects.toMatchObject(refused);
    await expect(client.send(new sdk.ListObjectsV2Command({ Bucket }))).rejects.toMatchObject(
      refused,
    );
    expect(await exists("bob/cat")).toBe(false);
  });

  it("sign URLs, which carry the token", async () => {
    await put("url");
    const credentials = temporary({ scope: "object-read-only" });
    const command = new sdk.GetObjectCommand({ Bucket: "photos", Key: "url" });
    const url = await getSignedUrl(sdkOf(credentials), command);
    expect(new URL(url).searchParams.get("X-Amz-Security-Token")).toBe(credentials.sessionToken);
    expect(await (await fetch(url)).text()).toBe("content");
    // Another token, and none.
    const { sessionToken } = temporary({ scope: "object-read-write" });
    const changed = new URL(url);
    changed.searchParams.set("X-Amz-Security-Token", sessionToken);
    expect((await fetch(changed)).status).toBe(403);
    changed.searchParams.delete("X-Amz-Security-Token");
    expect((await fetch(changed)).status).toBe(403);
  });

  it("write nothing with a scope that only reads", async () => {
    await put("kept");
    const reader = temporary({ scope: "admin-read-only" });
    const remove = "<Delete><Object><Key>kept</Key></Object></Delete>";
    expect(await codeOf(reader, "GET", "/photos/kept")).toBe(200);
    expect(await codeOf(reader, "GET", "/photos?versioning")).toBe(200);
    for (const [method, target, body] of [
      ["PUT", "/photos/kept", "new"],
      ["DELETE", "/photos/kept"],
      ["POST", "/photos?delete", remove],
      ["POST", "/photos/kept?uploads"],
      ["DELETE", "/photos?cors"],
      ["GET", "/"],
    ] as const) {
      expect(await codeOf(reader, method, target, { body })).toBe("AccessDenied");
    }
    expect((await s3.client.send({ target: "/photos/kept" })).text).toBe("content");
  });

  it("reach no other bucket, also by a copy", async () => {
    await s3.client.send({ method: "PUT", target: "/other/secret", body: "secret" });
    await put("ada/copied");
    const scope = "admin-read-write";
    const writer = temporary({ scope });
    expect(await codeOf(writer, "GET", "/other/secret")).toBe("AccessDenied");
    const copy = (credentials: Temporary, source: string, target = "/photos/ada/copy") =>
      codeOf(credentials, "PUT", target, { headers: { "x-amz-copy-source": source } });
    expect(await copy(writer, "/other/secret")).toBe("AccessDenied");
    expect(await copy(writer, "/photos/ada/copied")).toBe(200);
    const limited = temporary({ scope, paths: { prefixPaths: ["ada/"] } });
    await put("outside");
    expect(await copy(limited, "/photos/ada/copied")).toBe(200);
    expect(await copy(limited, "/photos/outside")).toBe("AccessDenied");
    const begin = await s3.client.send({ method: "POST", target: "/photos/ada/copy?uploads" });
    const [, uploadId] = /<UploadId>(.*?)</.exec(begin.text) ?? [];
    const part = `/photos/ada/copy?partNumber=1&uploadId=${uploadId}`;
    expect(await copy(limited, "/photos/outside", part)).toBe("AccessDenied");
    expect(await copy(limited, "/photos/ada/copied", part)).toBe(200);
  });

  it("delete many keys only if each is permitted", async () => {
    await put("ada/one");
    await put("two");
    const writer = temporary({ scope: "object-read-write", paths: { prefixPaths: ["ada/"] } });
    const remove = (...keys: string[]) =>
      codeOf(writer, "POST", "/photos?delete", { body: document(...keys) });
    expect(await remove("ada/one", "two")).toBe("AccessDenied");
    expect([await exists("ada/one"), await exists("two")]).toEqual([true, true]);
    expect(await remove("ada/one")).toBe(200);
    expect(await exists("ada/one")).toBe(false);
  });

  it("create a missing bucket only if they may create buckets", async () => {
    const create = { headers: { "cf-create-bucket-if-missing": "true" } };
    const writer = temporary({ scope: "object-read-write", bucket: "new" });
    expect(await codeOf(writer, "PUT", "/new/key", create)).toBe("AccessDenied");
    expect((await s3.client.send({ method: "HEAD", target: "/new" })).status).toBe(404);
    const admin = temporary({ scope: "admin-read-write", bucket: "new" });
    expect(await codeOf(admin, "PUT", "/new/key", create)).toBe(200);
  });

  it("are refused after their end, and with a token that another secret has signed", async () => {
    const expired = temporary({ scope: "object-read-only", exp: seconds() - 1 });
    expect(await codeOf(expired, "GET", "/photos")).toBe("ExpiredToken");
    const foreign = temporary({ scope: "object-read-only", iss: "other" });
    expect(await codeOf(foreign, "GET", "/photos")).toBe("Unauthorized");
    const { credentials } = s3.server;
    const { sessionToken } = temporary({ scope: "object-read-only" });
    // The secret of the parent with a token, and the secret of a session without its token.
    expect(await codeOf({ ...credentials, sessionToken }, "GET", "/photos")).toBe(
      "SignatureDoesNotMatch",
    );
    const withoutToken = new S3TestClient({
      port: s3.server.port,
      credentials: temporary({ scope: "object-read-only" }),
    });
    expect((await withoutToken.send({ target: "/photos" })).code).toBe("SignatureDoesNotMatch");
  });
});

it("docs/s3.md has a program that makes temporary credentials", async () => {
  const [program = ""] = blocks(section(read("docs/s3.md"), "Temporary credentials"), "js");
  const path = join(temporaryFolder(), "program.mjs");
  const modules = fileURLToPath(new URL("../../node_modules/", import.meta.url));
  writeFileSync(
    path,
    program
      .replaceAll("localhost:8789", new URL(s3.server.url).host)
      .replace('"aws4fetch"', JSON.stringify(`${modules}aws4fetch/dist/aws4fetch.esm.mjs`)),
  );
  const { accessKeyId, secretAccessKey } = s3.server.credentials;
  const env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  const { stdout } = await promisify(execFile)(process.execPath, [path], { env });
  expect(stdout).toBe("200\n403\n");
});
