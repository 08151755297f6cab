/** Objects through the S3-compatible API: contents, metadata, conditions, ranges, copies, lists. */
import { hash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, statSync, truncateSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useS3 } from "./support/running-s3.ts";

/** The errors that no client has caused. */
const reported: unknown[] = [];
const s3 = useS3({
  buckets: [{ name: "photos" }, { name: "site", public: true }],
  onError: (error) => reported.push(error),
});
const send = (...args: Parameters<typeof s3.client.send>) => s3.client.send(...args);
const put = (key: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  send({ method: "PUT", target: `/photos/${key}`, body, headers });

const range = (value: string) =>
  send({ target: "/photos/range", headers: { range: value } }).then(({ status, code }) => [
    status,
    code,
  ]);
const copy = (key: string, headers: Record<string, string>) =>
  send({ method: "PUT", target: `/photos/${key}`, headers });
const metadata = async (key: string) => {
  const { headers } = await send({ method: "HEAD", target: `/photos/${key}` });
  return [headers["content-type"], headers["x-amz-meta-a"], headers["x-amz-meta-b"]];
};

const elements = (text: string, name: string) =>
  Array.from(
    text.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g")),
    ([, value = ""]) => value,
  );

const remove = (content: string) =>
  send({ method: "POST", target: "/photos?delete", body: `<Delete>${content}</Delete>` });

describe("PutObject and GetObject", () => {
  it.each(["a%20b%2Bc", "x/../y", "x//y", "a%2Fb", "%C3%A9", "%25", "..", "a%3Fb"])(
    "store and return the key %s",
    async (key) => {
      expect((await put(key, key)).status).toBe(200);
      const got = await send({ target: `/photos/${key}` });
      expect([got.status, got.text]).toEqual([200, key]);
      const listed = await send({ target: "/photos?encoding-type=url" });
      expect(listed.text).toContain(encodeURIComponent(decodeURIComponent(key)));
    },
  );

  it("keep large content, its metadata and its checksums", async () => {
    const body = Buffer.alloc(3_000_000, "0123456789");
    const stored = await put("large", body, {
      "content-type": "text/x",
      "content-language": "de",
      "x-amz-meta-name": "=?utf-8?B?w6k=?=",
      "x-amz-storage-class": "STANDARD_IA",
      "x-amz-checksum-sha256": hash("sha256", body, "base64"),
    });
    expect([stored.status, stored.headers.etag]).toEqual([200, `"${hash("md5", body, "hex")}"`]);
    const got = await send({
      target: "/photos/large",
      headers: { "x-amz-checksum-mode": "ENABLED" },
    });
    expect(got.body.equals(body)).toBe(true);
    expect(got.headers).toMatchObject({
      "content-type": "text/x",
      "content-language": "de",
      "content-length": "3000000",
      "accept-ranges": "bytes",
      "x-amz-meta-name": "=?utf-8?B?w6k=?=",
      "x-amz-storage-class": "STANDARD_IA",
      "x-amz-checksum-sha256": hash("sha256", body, "base64"),
      "x-amz-checksum-type": "FULL_OBJECT",
    });
    const part = await send({ target: "/photos/large", headers: { range: "bytes=10-14" } });
    expect([part.status, part.text, part.headers["content-range"]]).toEqual([
      206,
      "01234",
      "bytes 10-14/3000000",
    ]);
    const overridden = await send({ target: "/photos/large?response-content-type=text%2Fy" });
    expect(overridden.headers["content-type"]).toBe("text/y");
  });

  it("end the connection when a file cannot be read to its end", async () => {
    // More than the buffers of the system hold.
    const body = Buffer.alloc(32 * 1024 * 1024, "0123456789");
    expect((await put("shortened", body)).status).toBe(200);
    const files = join(s3.stateFolder, "v3/store/blobs/photos");
    const path = readdirSync(files)
      .map((name) => join(files, name))
      .find((name) => statSync(name).size === body.length) as string;
    const target = "/photos/shortened";
    const { headers } = s3.client.sign({ target });
    const outgoing = request({ host: "127.0.0.1", port: s3.client.port, path: target, headers });
    outgoing.end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    truncateSync(path, 1024 * 1024);
    const received: Buffer[] = [];
    response.on("data", (chunk: Buffer) => received.push(chunk));
    await expect(once(response, "end")).rejects.toThrow("aborted");
    const bytes = Buffer.concat(received);
    expect(bytes.length).toBeLessThan(body.length);
    expect(bytes.equals(body.subarray(0, bytes.length))).toBe(true);
    await expect.poll(() => reported.map(String)).toContainEqual(expect.stringContaining("bytes"));
    // The server goes on, and a read from the start says what is wrong.
    const again = await send({ target });
    expect([again.status, again.code]).toEqual([500, "InternalError"]);
    expect(again.text).toContain("damaged");
  });

  it("refuse ranges as the deployed service does", async () => {
    await put("range", "0123456789");
    expect(await range("bytes=99-")).toEqual([416, "InvalidRange"]);
    expect(await range("bytes=-0")).toEqual([416, "InvalidRange"]);
    expect(await range("bytes=z")).toEqual([400, "InvalidArgument"]);
    expect(await range("bytes=5-2")).toEqual([400, "InvalidArgument"]);
  });

  it.each(["GET", "HEAD"])(
    "%s: a range outside of the object is refused with the size",
    async (method) => {
      await put("range", "0123456789");
      await put("empty", "");
      const refused = async (key: string, value: string) => {
        const { status, headers } = await send({
          method,
          target: `/photos/${key}`,
          headers: { range: value },
        });
        return [status, headers["content-range"]];
      };
      expect(await refused("range", "bytes=10-")).toEqual([416, "bytes */10"]);
      expect(await refused("range", "bytes=-0")).toEqual([416, "bytes */10"]);
      expect(await refused("empty", "bytes=0-")).toEqual([416, "bytes */0"]);
      // The number of a part is no range (RFC 9110 section 14.4).
      const part = await send({ method, target: "/photos/range?partNumber=2" });
      expect([part.status, part.headers["content-range"]]).toEqual([416, undefined]);
    },
  );

  it.each(["GET", "HEAD"])("%s: a range counts if If-Range names this version", async (method) => {
    const target = "/photos/resumed";
    const { headers } = await put("resumed", "0123456789");
    const etag = headers.etag as string;
    const stored = await send({ method: "HEAD", target });
    const modified = stored.headers["last-modified"] as string;
    const resume = async (ifRange: string, others: Record<string, string> = {}) => {
      const sent = { range: "bytes=8-", "if-range": ifRange, ...others };
      const got = await send({ method, target, headers: sent });
      return [got.status, got.headers["content-length"], got.headers["content-range"]];
    };
    const partial = [206, "2", "bytes 8-9/10"];
    const whole = [200, "10", undefined];
    expect(await resume(etag)).toEqual(partial);
    expect(await resume(modified)).toEqual(partial);
    expect(await resume(`W/${etag}`)).toEqual(whole);
    expect(await resume('"other"')).toEqual(whole);
    expect(await resume(new Date(Date.parse(modified) - 1000).toUTCString())).toEqual(whole);
    // Other conditions come first.
    expect((await resume(etag, { "if-none-match": etag }))[0]).toBe(304);
    expect((await resume(etag, { "if-match": '"other"' }))[0]).toBe(412);
    expect((await resume('"other"', { "if-match": '"other"' }))[0]).toBe(412);
    // The range is not satisfiable, and does not count.
    expect(await resume('"other"', { range: "bytes=99-" })).toEqual(whole);
    expect((await resume(etag, { range: "bytes=99-" }))[0]).toBe(416);
  });

  it("answer HEAD and conditions without bodies", async () => {
    const { headers } = await put("conditions", "x");
    const etag = headers.etag as string;
    const head = await send({ method: "HEAD", target: "/photos/conditions" });
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", "1"]);
    const partial = await send({
      method: "HEAD",
      target: "/photos/large",
      headers: { range: "bytes=0-4" },
    });
    expect([partial.status, partial.headers["content-length"]]).toEqual([206, "5"]);
    const same = await send({ target: "/photos/conditions", headers: { "if-none-match": etag } });
    expect([same.status, same.text, same.headers.etag]).toEqual([304, "", etag]);
    const other = await send({ target: "/photos/conditions", headers: { "if-match": '"no"' } });
    expect([other.status, other.code]).toEqual([412, "PreconditionFailed"]);
    const missing = await send({ method: "HEAD", target: "/photos/none" });
    expect([missing.status, missing.text]).toEqual([404, ""]);
    const kept = await put("conditions", "y", { "if-none-match": "*" });
    expect([kept.status, kept.code]).toEqual([412, "PreconditionFailed"]);
    const removed = (tag: string) =>
      send({ method: "DELETE", target: "/photos/conditions", headers: { "if-match": tag } });
    expect((await removed('"no"')).status).toBe(412);
    expect((await removed(etag)).status).toBe(204);
  });

  it("answer requests for a public bucket without a signature, and for no other", async () => {
    await send({ method: "PUT", target: "/site/index.html", body: "hi" });
    const read = await send({ target: "/site/index.html", isAnonymous: true });
    expect([read.status, read.text]).toEqual([200, "hi"]);
    const refused = await Promise.all([
      send({ target: "/photos/large", isAnonymous: true }),
      send({ target: "/site", isAnonymous: true }),
      send({ target: "/", isAnonymous: true }),
      send({ target: "/site/index.html?uploads", isAnonymous: true }),
      send({ method: "PUT", target: "/site/x", body: "x", isAnonymous: true }),
      send({ method: "DELETE", target: "/site/index.html", isAnonymous: true }),
    ]);
    const answers = refused.map(
      ({ status, text }) => `${status} ${/<Message>(.*?)</.exec(text)?.[1]}`,
    );
    expect(new Set(answers)).toEqual(new Set(["400 Authorization"]));
    const overridden = "/site/index.html?response-content-type=text%2Fhtml";
    const linked = await send({ target: overridden, isAnonymous: true });
    expect([linked.status, linked.code]).toEqual([400, "InvalidRequest"]);
    expect(linked.text).toContain("cannot be used for anonymous GET requests");
    expect((await send({ target: overridden })).status).toBe(200);
    const form = await send({ method: "POST", target: "/site", body: "x", isAnonymous: true });
    expect([form.status, form.code]).toEqual([412, "PreconditionFailed"]);
  });
});

it("compares keys by their bytes, also those that are equal after normalisation", async () => {
  const [composed, decomposed] = ["nfc/%C3%A9", "nfc/e%CC%81"] as const;
  await put(composed, "composed");
  await put(decomposed, "decomposed");
  expect((await send({ target: `/photos/${composed}` })).text).toBe("composed");
  const { text } = await send({ target: "/photos?list-type=2&prefix=nfc%2F&encoding-type=url" });
  expect(elements(text, "Key").map(decodeURIComponent)).toEqual(
    [decomposed, composed].map(decodeURIComponent),
  );
});

describe("CopyObject", () => {
  it("copies, replaces and merges metadata", async () => {
    await put("source", "content", { "content-type": "text/csv", "x-amz-meta-a": "1" });
    const source = { "x-amz-copy-source": "/photos/source", "x-amz-meta-b": "2" };
    await copy("copied", source);
    await copy("replaced", { ...source, "x-amz-metadata-directive": "REPLACE" });
    await copy("merged", { ...source, "x-amz-metadata-directive": "MERGE" });
    expect(await metadata("copied")).toEqual(["text/csv", "1", undefined]);
    expect(await metadata("replaced")).toEqual(["application/octet-stream", undefined, "2"]);
    expect(await metadata("merged")).toEqual(["text/csv", "1", "2"]);
    expect((await send({ target: "/photos/copied" })).text).toBe("content");
  });

  it("obeys the conditions of both ends, and names what is missing", async () => {
    await put("source", "content");
    const source = "/photos/source";
    const outcome = async (headers: Record<string, string>) => {
      const { status, code } = await copy("target", { "x-amz-copy-source": source, ...headers });
      return `${status} ${code ?? ""}`;
    };
    expect(await outcome({ "x-amz-copy-source-if-match": '"no"' })).toBe("412 PreconditionFailed");
    expect(await outcome({ "cf-copy-destination-if-none-match": "*" })).toBe("200 ");
    expect(await outcome({ "cf-copy-destination-if-none-match": "*" })).toBe(
      "412 PreconditionFailed",
    );
    expect(await outcome({ "if-none-match": "*" })).toBe("412 PreconditionFailed");
    expect(await outcome({ "x-amz-copy-source": "/photos/none" })).toBe("404 NoSuchKey");
    expect(await outcome({ "x-amz-copy-source": "/none/none" })).toBe("404 NoSuchBucket");
    expect(await outcome({ "x-amz-metadata-directive": "WAT" })).toBe("400 InvalidArgument");
  });
});

describe("lists", () => {
  it("page through keys and prefixes in both versions", async () => {
    const keys = ["l/a", "l/b/1", "l/b/2", "l/c/1", "l/d"];
    await Promise.all(keys.map((key) => put(key, key)));
    const found: string[] = [];
    let marker = "";
    do {
      const query = `delimiter=/&marker=${encodeURIComponent(marker)}&max-keys=1&prefix=l/`;
      const encoded = query.replaceAll("/", "%2F");
      const { text } = await send({ target: `/photos?${encoded}` });
      found.push(
        ...elements(text, "Key"),
        ...elements(text, "Prefix").filter((each) => each !== "l/"),
      );
      marker = elements(text, "NextMarker")[0] ?? "";
    } while (marker !== "");
    expect(found).toEqual(["l/a", "l/b/", "l/c/", "l/d"]);
    const first = await send({ target: "/photos?list-type=2&max-keys=2&prefix=l%2F" });
    const token = elements(first.text, "NextContinuationToken")[0] as string;
    const target = `/photos?continuation-token=${encodeURIComponent(token)}&list-type=2&prefix=l%2F`;
    expect(elements((await send({ target })).text, "Key")).toEqual(keys.slice(2));
    const versions = await send({ target: "/photos?prefix=l%2Fa&versions" });
    expect(elements(versions.text, "VersionId")).toEqual(["null"]);
    const start = await send({ target: "/photos?continuation-token=&list-type=2&prefix=l%2F" });
    expect(start.text).toContain("<ContinuationToken></ContinuationToken>");
    const wrong = await send({ target: "/photos?continuation-token=x&list-type=2" });
    expect([wrong.status, wrong.code]).toEqual([400, "InvalidArgument"]);
  });

  it("delete many keys with one request", async () => {
    await put("many/1", "x");
    const keys = ["many/1", "many/none", "k".repeat(1025)];
    const objects = keys.map((key) => `<Object><Key>${key}</Key></Object>`).join("");
    const answer = await remove(objects);
    expect(answer.text).toContain("<Deleted><Key>many/1</Key></Deleted>");
    expect(answer.text).toContain("<Deleted><Key>many/none</Key></Deleted>");
    expect(answer.text).toContain("<Code>InvalidObjectName</Code>");
    expect((await send({ target: "/photos/many/1" })).status).toBe(404);
    const quiet = await remove(`<Quiet> True\n</Quiet>${objects}`);
    expect(quiet.text).not.toContain("<Deleted>");
    expect(quiet.text).toContain("<Code>InvalidObjectName</Code>");
    expect((await remove(`<Quiet>1</Quiet>${objects}`)).code).toBe("MalformedXML");
  });

  it.each([
    ["Size", "1"],
    ["LastModifiedTime", "Wed, 21 Oct 2026 07:28:00 GMT"],
  ])("delete nothing on the condition %s, which the store does not have", async (name, value) => {
    await put("kept", "x");
    const plain = "<Object><Key>kept</Key></Object>";
    const other = `<Object><Key>other</Key><${name}>${value}</${name}></Object>`;
    const refused = await remove(plain + other);
    expect([refused.status, refused.text]).toEqual([
      501,
      expect.stringContaining(`DeleteObjects element ${name} not implemented`),
    ]);
    expect((await send({ target: "/photos/kept" })).status).toBe(200);
  });

  it.each(["max-keys=0", "list-type=2&max-keys=0", "versions&max-keys=0", "uploads&max-uploads=0"])(
    "give an empty last page for %s",
    async (query) => {
      await put("listed", "x");
      await send({ method: "POST", target: "/photos/listed?uploads" });
      const { status, text } = await send({ target: `/photos?${query}` });
      expect([status, elements(text, "Key"), elements(text, "IsTruncated")]).toEqual([
        200,
        [],
        ["false"],
      ]);
    },
  );
});
