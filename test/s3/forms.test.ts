/**
 * Forms of browsers (POST Object), encoded by Node's `FormData` and signed here. The rules of
 * policies are in `src/s3/post-policy.test.ts`.
 */
import { createHmac } from "node:crypto";
import { connect } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { useS3 } from "./support/running-s3.ts";

const s3 = useS3({ buckets: [{ name: "photos" }, { name: "site", public: true }] });

interface Posted {
  readonly fields?: Readonly<Record<string, string>>;
  /** Besides those of the bucket and of the fields. */
  readonly conditions?: readonly unknown[];
  readonly content?: string | Uint8Array<ArrayBuffer>;
  readonly isSigned?: boolean;
  readonly bucketName?: string;
}

function sign(policy: string): Record<string, string> {
  const { accessKeyId, secretAccessKey } = s3.server.credentials;
  const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, "");
  const scope = [date.slice(0, 8), "auto", "s3", "aws4_request"];
  const start: Buffer | string = `AWS4${secretAccessKey}`;
  const key = scope.reduce<Buffer | string>(
    (each, word) => createHmac("sha256", each).update(word).digest(),
    start,
  );
  return {
    policy,
    "x-amz-signature": createHmac("sha256", key).update(policy).digest("hex"),
    "x-amz-algorithm": "AWS4-HMAC-SHA256",
    "x-amz-credential": [accessKeyId, ...scope].join("/"),
    "x-amz-date": date,
  };
}

function formOf(posted: Posted): FormData {
  const { conditions = [], content = "content", isSigned = true, bucketName = "photos" } = posted;
  const fields = { key: "form/${filename}", ...posted.fields };
  const document = {
    expiration: new Date(Date.now() + 60_000).toISOString(),
    conditions: [
      { bucket: bucketName },
      ["starts-with", "$key", "form/"],
      ...["x-amz-algorithm", "x-amz-credential", "x-amz-date", ...Object.keys(fields)].map(
        (name) => ["starts-with", `$${name}`, ""],
      ),
      ...conditions,
    ],
  };
  const policy = Buffer.from(JSON.stringify(document)).toString("base64");
  const form = new FormData();
  const all = { ...fields, ...(isSigned && sign(policy)) };
  for (const [name, value] of Object.entries(all)) form.append(name, value);
  form.append("file", new Blob([content]), "cat.png");
  form.append("submit", "after the file");
  return form;
}

async function post(posted: Posted = {}): Promise<{ response: Response; text: string }> {
  const url = `http://localhost:${s3.server.port}/${posted.bucketName ?? "photos"}`;
  const response = await fetch(url, {
    method: "POST",
    body: formOf(posted),
    redirect: "manual",
  });
  return { response, text: await response.text() };
}

async function refusal(posted: Posted): Promise<string> {
  const { response, text } = await post(posted);
  return `${response.status} ${/<Code>(.*?)<\/Code>/.exec(text)?.[1]}`;
}

describe("a form", () => {
  it("stores its file with the metadata of its fields", async () => {
    const fields = { "Content-Type": "image/png", "x-amz-meta-name": "Tom", acl: "private" };
    const { response } = await post({ fields });
    expect([response.status, response.headers.get("etag")]).toEqual([
      204,
      '"9a0364b9e99bb480dd25e1f0284c8555"',
    ]);
    const stored = await s3.client.send({ target: "/photos/form/cat.png" });
    expect([
      stored.text,
      stored.headers["content-type"],
      stored.headers["x-amz-meta-name"],
    ]).toEqual(["content", "image/png", "Tom"]);
  });

  it("answers as its fields ask", async () => {
    const created = await post({ fields: { success_action_status: "201" } });
    expect(created.response.status).toBe(201);
    expect(created.text).toContain("<Key>form/cat.png</Key>");
    const page = "http://localhost/done";
    const { response } = await post({ fields: { success_action_redirect: page } });
    expect([response.status, response.headers.get("location")]).toEqual([
      303,
      `${page}?bucket=photos&key=form%2Fcat.png&etag=%229a0364b9e99bb480dd25e1f0284c8555%22`,
    ]);
  });

  it("streams a large file of any bytes", async () => {
    const content = new Uint8Array(8 * 1024 * 1024);
    for (let at = 0; at < content.length; at++) content[at] = "\r\n--"[at % 5]?.charCodeAt(0) ?? at;
    expect((await post({ content })).response.status).toBe(204);
    const stored = await s3.client.send({ target: "/photos/form/cat.png" });
    expect(stored.body.equals(content)).toBe(true);
    await s3.client.send({ method: "DELETE", target: "/photos/form/cat.png" });
    expect(s3.files("photos")).toEqual([]);
  });

  it("is refused without a signature, also for a public bucket", async () => {
    const before = await s3.client.send({ target: "/site" });
    expect(await refusal({ isSigned: false, bucketName: "site" })).toBe("403 AccessDenied");
    const after = await s3.client.send({ target: "/site" });
    expect(after.text).toBe(before.text);
  });

  it("leaves nothing when its policy, its size or its checksum refuses it", async () => {
    const large = new Uint8Array(200_000);
    const md5 = { "Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA==" };
    const answers = [
      await refusal({ fields: { key: "other" } }),
      await refusal({ conditions: [["eq", "$acl", "private"]] }),
      await refusal({ conditions: [["content-length-range", 0, 100_000]], content: large }),
      await refusal({ conditions: [["content-length-range", 300_000, 400_000]], content: large }),
      await refusal({ fields: md5, content: large }),
      await refusal({ fields: { "x-amz-checksum-crc32": "AAAAAA==" }, content: large }),
      await refusal({ fields: { tagging: "<Tagging/>" } }),
    ];
    expect(answers).toEqual([
      "403 AccessDenied",
      "403 AccessDenied",
      "400 EntityTooLarge",
      "400 EntityTooSmall",
      "400 BadDigest",
      "400 BadDigest",
      "501 NotImplemented",
    ]);
    const listed = await s3.client.send({ target: "/photos?list-type=2" });
    expect(listed.text).toContain("<KeyCount>0</KeyCount>");
    expect(s3.files("photos")).toEqual([]);
  });

  it("leaves nothing when its client goes away", async () => {
    const request = new Request("http://localhost", {
      method: "POST",
      body: formOf({ content: new Uint8Array(900_000) }),
    });
    const body = Buffer.from(await request.arrayBuffer());
    const socket = connect(s3.server.port, "127.0.0.1");
    socket.write(
      "POST /photos HTTP/1.1\r\nHost: localhost\r\n" +
        `Content-Type: ${request.headers.get("content-type")}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body.subarray(0, 500_000));
    const waiting = { timeout: 60_000, interval: 10 };
    await vi.waitFor(() => expect(s3.files("photos")).toHaveLength(1), waiting);
    socket.destroy();
    await vi.waitFor(() => expect(s3.files("photos")).toEqual([]), waiting);
  });
});
