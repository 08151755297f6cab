/** The examples that AWS publishes with its description of the signature, and altered requests. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalRequest, type SignedRequest } from "../http/signature.ts";
import { parseAuthorization, sha256, sign, signingKey, verifySignature } from "./authorization.ts";
import { encodeComponent } from "../http/uri.ts";

const credentials = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const now = Date.parse("2013-05-24T00:00:00Z");
const scope = "20130524/us-east-1/s3/aws4_request";
const emptyHash = sha256("");

interface Example {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: string;
  readonly signature: string;
}

const examples: Record<string, Example> = {
  "a GET with a range": {
    method: "GET",
    path: "/test.txt",
    headers: { range: "bytes=0-9" },
    signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  },
  "a PUT": {
    method: "PUT",
    path: "/test$file.text",
    headers: {
      date: "Fri, 24 May 2013 00:00:00 GMT",
      "x-amz-storage-class": "REDUCED_REDUNDANCY",
    },
    payload: sha256("Welcome to Amazon S3."),
    signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  },
  "a parameter without a value": {
    method: "GET",
    path: "/",
    query: "lifecycle",
    headers: {},
    signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  },
  "a list": {
    method: "GET",
    path: "/",
    query: "max-keys=2&prefix=J",
    headers: {},
    signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  },
};

function requestOf({
  method,
  path,
  query = "",
  headers,
  payload,
  signature,
}: Example): SignedRequest {
  const all: Record<string, string> = {
    ...headers,
    host: "examplebucket.s3.amazonaws.com",
    "x-amz-content-sha256": payload ?? emptyHash,
    "x-amz-date": "20130524T000000Z",
  };
  const names = Object.keys(all).toSorted().join(";");
  const credential = `${credentials.accessKeyId}/${scope}`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=${names},Signature=${signature}`;
  return { method, path, query, headers: new Map(Object.entries({ ...all, authorization })) };
}

function verify(request: SignedRequest, time = now): string {
  const authorization = parseAuthorization(request, time);
  if (authorization === null) throw new Error("The request is anonymous");
  return verifySignature(request, authorization, credentials, time).signature;
}

/** Without `expect`, which costs more than the verification. */
function isAccepted(request: SignedRequest): boolean {
  try {
    verify(request);
    return true;
  } catch {
    return false;
  }
}

const presigned: SignedRequest = {
  method: "GET",
  path: "/test.txt",
  query:
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(`${credentials.accessKeyId}/${scope}`)}` +
    "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host" +
    "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
  headers: new Map([["host", "examplebucket.s3.amazonaws.com"]]),
};

describe("verifySignature()", () => {
  it.each(Object.entries(examples))("accepts AWS's example of %s", (_, example) => {
    expect(verify(requestOf(example))).toBe(example.signature);
  });

  it("accepts AWS's example of a presigned URL until it expires", () => {
    expect(() => verify(presigned)).not.toThrow();
    expect(() => verify(presigned, now + 86_400_000)).not.toThrow();
    expect(() => verify(presigned, now + 86_400_001)).toThrow("Request has expired");
    expect(() => verify(presigned, now - 16 * 60_000)).toThrow("too large");
  });

  it("refuses a request whose time is not near the server's time", () => {
    const request = requestOf(examples["a list"] as Example);
    expect(() => verify(request, now + 15 * 60_000)).not.toThrow();
    expect(() => verify(request, now + 15 * 60_000 + 1)).toThrow("too large");
    expect(() => verify(request, now - 15 * 60_000 - 1)).toThrow("too large");
  });

  it.each([
    ["x-amz-copy-source", "/other/key"],
    ["x-amz-meta-name", "value"],
    ["cf-create-bucket-if-missing", "true"],
    ["cf-copy-destination-if-match", "*"],
    ["cf-copy-destination-if-none-match", "*"],
    ["cf-copy-destination-if-modified-since", "Fri, 24 May 2013 00:00:00 GMT"],
    ["cf-copy-destination-if-unmodified-since", "Fri, 24 May 2013 00:00:00 GMT"],
  ])("refuses the header %s that is not signed", (name, value) => {
    const added = (request: SignedRequest): SignedRequest => ({
      ...request,
      headers: new Map([...request.headers, [name, value]]),
    });
    const signed = requestOf(examples["a PUT"] as Example);
    for (const request of [signed, presigned]) {
      expect(() => verify(added(request))).toThrow("which were not signed");
    }
  });

  it("refuses a request in which a character is altered", () => {
    const accepted: string[] = [];
    for (const request of [...Object.values(examples).map(requestOf), presigned]) {
      const { method, path, query, headers } = request;
      const texts = [method, path, query, ...headers.values()];
      for (const [index, text] of texts.entries()) {
        for (let at = 0; at < text.length; at++) {
          const other = text.slice(0, at) + (text[at] === "q" ? "r" : "q") + text.slice(at + 1);
          const [altered, alteredPath, alteredQuery, ...values] = texts.with(index, other) as [
            string,
            string,
            string,
            ...string[],
          ];
          const isSame = isAccepted({
            method: altered,
            path: alteredPath,
            query: alteredQuery,
            headers: new Map(
              Array.from(headers.keys(), (name, each) => [name, values[each] as string]),
            ),
          });
          if (isSame) accepted.push(other);
        }
      }
    }
    expect(accepted).toEqual([]);
  });

  it("accepts a path however its client encodes what may stay unencoded", () => {
    const key = signingKey(credentials.secretAccessKey, "20130524/auto/s3/aws4_request");
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 30 }),
        fc.string({ maxLength: 10 }),
        (name, value) => {
          const path = `/bucket/${name.split("/").map(encodeComponent).join("/")}`;
          const query = `prefix=${encodeComponent(value)}`;
          const base = requestOf({
            method: "GET",
            path,
            query,
            headers: {},
            signature: "0".repeat(64),
          });
          const replaced = (from: string, to: string, all = base.headers) =>
            new Map(Array.from(all, ([header, text]) => [header, text.replace(from, to)]));
          const unsigned = { ...base, headers: replaced("us-east-1", "auto") };
          const canonical = canonicalRequest(unsigned, parseAuthorization(unsigned, now)!);
          const text = `AWS4-HMAC-SHA256\n20130524T000000Z\n${scope.replace("us-east-1", "auto")}\n${sha256(canonical)}`;
          const headers = replaced("0".repeat(64), sign(key, text), unsigned.headers);
          const lessEncoded = path.replace(/%(?:21|27|28|29|2A|2B|40|3A)/g, (code) =>
            decodeURIComponent(code),
          );
          return isAccepted({ ...unsigned, headers, path: lessEncoded });
        },
      ),
    );
    expect.assertions(0);
  });
});

describe("parseAuthorization()", () => {
  it("returns null for an anonymous request", () => {
    expect(
      parseAuthorization({ method: "GET", path: "/", query: "", headers: new Map() }, now),
    ).toBeNull();
  });

  it.each([
    ["Authorization=Basic", { authorization: "Basic abc" }, "Please use AWS4-HMAC-SHA256"],
    ["no hash", { "x-amz-content-sha256": null }, "Missing x-amz-content-sha256"],
    ["no date", { "x-amz-date": null }, "No date provided"],
    ["a date in another form", { "x-amz-date": "2013-05-24" }, "didn't parse"],
    ["a day that does not exist", { "x-amz-date": "20130524T990000Z" }, "didn't parse"],
    [
      "another service",
      { authorization: "s3/aws4_request → ec2/aws4_request" },
      "should be s3, not ec2",
    ],
    ["another end", { authorization: "aws4_request → aws3_request" }, "should be aws4_request"],
    ["few parts", { authorization: "us-east-1/ → " }, "at least 5 slash-separated parts, not 4"],
    ["another day", { authorization: "20130524/ → 20130525/" }, "does not match 20130524"],
    ["another region", { authorization: "us-east-1/ → eu-west-9/" }, "'eu-west-9' is not valid"],
    ["no host", { authorization: "host; → " }, "Unauthorized"],
  ] as [string, Record<string, string | null>, string][])("refuses %s", (_, changes, text) => {
    const request = requestOf(examples["a list"] as Example);
    const headers = Array.from(request.headers).flatMap(([name, value]): [string, string][] => {
      const change = changes[name];
      if (change === undefined) return [[name, value]];
      if (change === null) return [];
      const [from, to] = change.split(" → ");
      return [[name, to === undefined ? change : value.replace(from as string, to)]];
    });
    expect(() => verify({ ...request, headers: new Map(headers) })).toThrow(text);
  });

  it.each([
    ["0", "has expired"],
    ["-1", "has expired"],
    ["604801", "must be less than a week"],
    ["", "should be a number"],
    ["x", "should be a number"],
  ])("refuses a URL that is valid for %j seconds", (seconds, text) => {
    const query = presigned.query.replace("Expires=86400", `Expires=${seconds}`);
    expect(() => verify({ ...presigned, query })).toThrow(text);
  });

  it("names all parameters that a presigned URL lacks", () => {
    const query = "X-Amz-Credential=a&X-Amz-Date=b&X-Amz-Expires=1&X-Amz-SignedHeaders=host";
    expect(() => verify({ ...presigned, query })).toThrow(
      "Required search parameters X-Amz-Algorithm,  X-Amz-Signature missing",
    );
  });
});
