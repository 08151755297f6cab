/**
 * What an S3 service honours, each measured by requests. A measurement uses keys of its own and
 * describes what it saw in a few words: the cells of the table in `docs/cluster.md`.
 */
import { createHash } from "node:crypto";
import { createHttpTransport } from "../../../src/store/node/http-transport.ts";
import { readErrorDocument } from "../../../src/store/remote/s3-answer.ts";
import type { RemoteCredentials } from "../../../src/store/remote/remote-options.ts";
import { RequestSigner } from "../../../src/http/signature.ts";
import type { S3Message } from "../../../src/store/remote/s3-transport.ts";

interface Bucket {
  readonly service: RawService;
  readonly name: string;
}

type Measurement = (bucket: Bucket) => Promise<string>;

const otherTag = "0123456789abcdef0123456789abcdef";

/** By the first column of the table. */
export const measurements: Readonly<Record<string, Measurement>> = {
  "PutObject, `If-None-Match: *`": async (bucket) => {
    const headers = { "if-none-match": "*" };
    const missing = await put(bucket, "none-match", { headers });
    const existing = await put(bucket, "none-match", { headers });
    return condition({ holds: missing, fails: existing });
  },
  "PutObject, `If-Match`, tag in quotes": (bucket) =>
    putIfMatch(bucket, "match-quoted", (tag) => `"${tag}"`),
  "PutObject, `If-Match`, tag without quotes": (bucket) =>
    putIfMatch(bucket, "match-unquoted", (tag) => tag),
  "PutObject, `If-Unmodified-Since`": async (bucket) => {
    await put(bucket, "unmodified");
    return condition({
      holds: await put(bucket, "unmodified", unmodifiedSince(Date.now() + 3_600_000)),
      fails: await put(bucket, "unmodified", unmodifiedSince(0)),
    });
  },
  "40 writers with `If-None-Match: *`": async (bucket) =>
    race(bucket, (body) => put(bucket, "race-create", { headers: { "if-none-match": "*" }, body })),
  "40 writers with one `If-Match`": async (bucket) => {
    const tag = tagOf(await put(bucket, "race-replace"));
    const features = await putIfMatch(bucket, "race-form", (text) => `"${text}"`);
    const form = features.startsWith("honoured") ? `"${tag}"` : tag;
    const headers = { "if-match": form };
    return race(bucket, (body) => put(bucket, "race-replace", { headers, body }));
  },
  "CompleteMultipartUpload, `If-None-Match: *`": async (bucket) => {
    const headers = { "if-none-match": "*" };
    const holds = await complete(bucket, "complete-none", headers);
    return condition({ holds, fails: await complete(bucket, "complete-none", headers) });
  },
  "CompleteMultipartUpload, `If-Match`": async (bucket) => {
    const tag = tagOf(await put(bucket, "complete-match"));
    const fails = await complete(bucket, "complete-match", { "if-match": `"${otherTag}"` });
    const holds = await complete(bucket, "complete-match", { "if-match": `"${tag}"` });
    return condition({ holds, fails });
  },
  "DeleteObject, `If-Match`": async (bucket) => {
    const tag = tagOf(await put(bucket, "delete"));
    const remove = (value: string) =>
      send(bucket, "DELETE", "delete", { headers: { "if-match": `"${value}"` } });
    const fails = await remove(otherTag);
    return condition({ holds: await remove(tag), fails });
  },
  "CopyObject, `If-None-Match: *` of the new object": async (bucket) => {
    await put(bucket, "copy-source");
    const headers = { "x-amz-copy-source": `/${bucket.name}/copy-source`, "if-none-match": "*" };
    const holds = await send(bucket, "PUT", "copy", { headers });
    return condition({ holds, fails: await send(bucket, "PUT", "copy", { headers }) });
  },
  "`Content-MD5` that is wrong": async (bucket) =>
    refusal(bucket, "wrong-md5", { "content-md5": digest("md5", "other") }),
  "`x-amz-checksum-sha256` that is wrong": async (bucket) =>
    refusal(bucket, "wrong-sha256", { "x-amz-checksum-sha256": digest("sha256", "other") }),
  "the same, with `x-amz-sdk-checksum-algorithm`": async (bucket) =>
    refusal(bucket, "wrong-named-sha256", {
      "x-amz-checksum-sha256": digest("sha256", "other"),
      "x-amz-sdk-checksum-algorithm": "SHA256",
    }),
  "`x-amz-checksum-sha256` of a read": async (bucket) => {
    const sha256 = digest("sha256", "content");
    const headers = { "x-amz-checksum-sha256": sha256, "x-amz-sdk-checksum-algorithm": "SHA256" };
    await put(bucket, "checksum", { headers, body: "content" });
    const mode = { headers: { "x-amz-checksum-mode": "ENABLED" } };
    const read = await send(bucket, "HEAD", "checksum", mode);
    return read.headers.get("x-amz-checksum-sha256") === sha256 ? "returned" : "absent";
  },
  "`Content-Type` without a signature": async (bucket) => {
    const answer = await put(bucket, "unsigned-type", {
      unsignedHeaders: { "content-type": "text/plain" },
    });
    return describeAnswer(answer);
  },
  "bytes in one header of user metadata, in hundreds": async (bucket) => {
    const isAccepted = async (size: number): Promise<boolean> => {
      const headers = { "x-amz-meta-ledge": "m".repeat(size) };
      if ((await put(bucket, "metadata", { headers })).status !== 200) return false;
      const read = await send(bucket, "HEAD", "metadata");
      return read.headers.get("x-amz-meta-ledge")?.length === size;
    };
    // In hundreds: a limit on all headers leaves less for this header where a host's name is longer.
    let [accepted, refused] = [0, 320];
    while (refused - accepted > 1) {
      const hundreds = Math.floor((accepted + refused) / 2);
      if (await isAccepted(hundreds * 100)) accepted = hundreds;
      else refused = hundreds;
    }
    return (accepted * 100).toLocaleString("en");
  },
  "names of user metadata": async (bucket) => {
    await put(bucket, "metadata-names", { headers: { "x-amz-meta-Mixed-Case": "v" } });
    const read = await send(bucket, "HEAD", "metadata-names");
    const names = Array.from(read.headers.keys()).filter((name) => name.startsWith("x-amz-meta-"));
    return names.includes("x-amz-meta-mixed-case") ? "in lower case" : "lost";
  },
  "storage class `STANDARD_IA`": async (bucket) => {
    const headers = { "x-amz-storage-class": "STANDARD_IA" };
    return describeAnswer(await put(bucket, "class", { headers }));
  },
  "times in a list": async (bucket) => {
    // One of three writes is not at a whole second.
    for (const key of ["times-1", "times-2", "times-3"]) await put(bucket, key);
    const list = await send(bucket, "GET", "", { query: "list-type=2&prefix=times-" });
    const times = Array.from(list.text.matchAll(/<LastModified>([^<]+)</g), ([, time]) => time!);
    if (times.length !== 3) return `${times.length} objects`;
    return times.every((time) => Date.parse(time) % 1000 === 0) ? "whole seconds" : "milliseconds";
  },
  "a key of 1,024 bytes": (bucket) => keeps(bucket, "k".repeat(1024)),
  "a key of 1,025 bytes": async (bucket) => describeAnswer(await put(bucket, "k".repeat(1025))),
  "a key with `//`, a space, `+` and an emoji": (bucket) =>
    keeps(bucket, "a//b%20%2B%F0%9F%98%80", "a//b +\u{1f600}"),
  "the key `a/../b`, slashes as `/`": (bucket) => keeps(bucket, "a/../b"),
  "the key `c/../d`, slashes as `%2F`, signed as `/`": (bucket) =>
    keeps(bucket, "c%2F..%2Fd", "c/../d", "c/../d"),
  "the key `e/../f`, slashes as `%2F`, signed as `%2F`": (bucket) =>
    keeps(bucket, "e%2F..%2Ff", "e/../f"),
};

interface Options {
  readonly headers?: Readonly<Record<string, string>>;
  readonly unsignedHeaders?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: string;
  readonly signedKey?: string;
}

/** @param key encoded */
function send(
  { service, name }: Bucket,
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE",
  key: string,
  { signedKey = key, ...options }: Options = {},
): Promise<RawAnswer> {
  const pathOf = (text: string): string => (text === "" ? `/${name}` : `/${name}/${text}`);
  return service.send({ method, path: pathOf(key), signedPath: pathOf(signedKey), ...options });
}

function put(bucket: Bucket, key: string, options: Options = {}): Promise<RawAnswer> {
  return send(bucket, "PUT", key, { body: "content", ...options });
}

/** An upload of one part. */
async function complete(
  bucket: Bucket,
  key: string,
  headers: Readonly<Record<string, string>>,
): Promise<RawAnswer> {
  const created = await send(bucket, "POST", key, { query: "uploads=" });
  const uploadId = /<UploadId>([^<]+)</.exec(created.text)?.[1] ?? "";
  const upload = `uploadId=${encodeURIComponent(uploadId)}`;
  const part = await send(bucket, "PUT", key, { query: `partNumber=1&${upload}`, body: "part" });
  const tag = part.headers.get("etag") ?? "";
  const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${tag}</ETag></Part></CompleteMultipartUpload>`;
  return send(bucket, "POST", key, { query: upload, headers, body });
}

async function putIfMatch(
  bucket: Bucket,
  key: string,
  form: (tag: string) => string,
): Promise<string> {
  const tag = tagOf(await put(bucket, key));
  const fails = await put(bucket, key, { headers: { "if-match": form(otherTag) } });
  const holds = await put(bucket, key, { headers: { "if-match": form(tag) } });
  return condition({ holds, fails });
}

function unmodifiedSince(milliseconds: number): Options {
  return { headers: { "if-unmodified-since": new Date(milliseconds).toUTCString() } };
}

/** How a service treats a condition, from the answers to a condition that holds and one that does not. */
function condition({ holds, fails }: { holds: RawAnswer; fails: RawAnswer }): string {
  if (holds.status >= 300) return `refused: ${describeAnswer(holds)}`;
  return fails.status < 300 ? "ignored" : `honoured: ${fails.status}`;
}

async function race(bucket: Bucket, write: (body: string) => Promise<RawAnswer>): Promise<string> {
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => write(`content of ${index}`)),
  );
  const winners = answers.filter(({ status }) => status === 200);
  const others = answers.filter(({ status }) => ![200, 409, 412, 500].includes(status));
  if (others.length > 0) return `refused: ${describeAnswer(others[0]!)}`;
  return winners.length === 1 ? "one succeeds" : `${winners.length} succeed in ${bucket.name}`;
}

/** What becomes of a put with a wrong digest. */
async function refusal(
  bucket: Bucket,
  key: string,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const answer = await put(bucket, key, { headers, body: "content" });
  const stored = await send(bucket, "HEAD", key);
  if (answer.status === 200) return "ignored";
  return stored.status === 404 ? describeAnswer(answer) : `${describeAnswer(answer)}, and stored`;
}

/** Whether an object can be put, read and listed under the key. */
async function keeps(
  bucket: Bucket,
  key: string,
  listed: string = key,
  signedKey: string = key,
): Promise<string> {
  const written = await put(bucket, key, { body: listed, signedKey });
  if (written.status !== 200) return describeAnswer(written);
  const read = await send(bucket, "GET", key, { signedKey });
  if (read.text !== listed) return `read: ${describeAnswer(read)}`;
  const list = await send(bucket, "GET", "", { query: "list-type=2" });
  return list.text.includes(`<Key>${listed}</Key>`) ? "accepted" : "listed as another key";
}

function describeAnswer({ status, code }: RawAnswer): string {
  if (status < 300) return "accepted";
  return code === null ? `${status}` : `${status} ${code}`;
}

function tagOf({ headers }: RawAnswer): string {
  return headers.get("etag")?.replaceAll('"', "") ?? "";
}

function digest(algorithm: string, text: string): string {
  return createHash(algorithm).update(text).digest("base64");
}

/** Single signed requests to an S3 service, without retries, for measurements. */

interface RawRequest {
  readonly method: S3Message["method"];
  /** Encoded, as it is sent: `/bucket/key`. */
  readonly path: string;
  /** The path in the signature, if it is another. */
  readonly signedPath?: string;
  /** Encoded, in the order of the signature. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly unsignedHeaders?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The code of an error document. */
  readonly code: string | null;
}

export class RawService {
  readonly endpoint: string;
  readonly #signer: RequestSigner;
  readonly #transport = createHttpTransport();

  constructor(endpoint: string, credentials: RemoteCredentials) {
    this.endpoint = endpoint;
    this.#signer = new RequestSigner(credentials, "us-east-1");
  }

  async send(request: RawRequest): Promise<RawAnswer> {
    const { method, path, signedPath = path, query = "", headers = {}, body } = request;
    const host = new URL(this.endpoint).host;
    const signed = await this.#signer.sign(
      { method, host, path: signedPath, query, headers },
      Date.now(),
    );
    const answer = await this.#transport.send({
      method,
      origin: this.endpoint,
      target: query === "" ? path : `${path}?${query}`,
      headers: { ...signed, ...request.unsignedHeaders },
      ...(body === undefined ? {} : { body: new TextEncoder().encode(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await new Response(answer.body).text();
    const code = answer.status < 300 ? null : (readErrorDocument(text)?.code ?? null);
    return { status: answer.status, headers: answer.headers, text, code };
  }

  close(): void {
    this.#transport.close();
  }
}
