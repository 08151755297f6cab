import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { S3Error } from "../s3/s3-errors.ts";
import { parseAuthorization, verifySignature } from "../s3/authorization.ts";
import { presign, type SignedRequest } from "./signature.ts";

const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
const now = Date.UTC(2026, 10, 15, 12);
const options = {
  endpoint: "http://localhost:8789",
  credentials,
  method: "GET",
  bucketName: "photos",
  expiresSeconds: 60,
  now,
} as const;

function requestOf(url: string, method = "GET"): SignedRequest {
  // Not `new URL()`, which would normalise the path.
  const [, host = "", path = "", query = ""] = /^http:\/\/([^/]+)([^?]*)\?(.*)$/.exec(url) ?? [];
  return { method, path, query, headers: new Map([["host", host]]) };
}

function verify(request: SignedRequest, time: number): void {
  const authorization = parseAuthorization(request, time);
  if (authorization === null) throw new Error("The URL has no signature.");
  verifySignature(request, authorization, credentials, time);
}

describe("presign()", () => {
  it("signs a URL of any key that the server accepts until the URL expires", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1, maxLength: 40 }), async (key) => {
        const request = requestOf(await presign({ ...options, key }));
        verify(request, now);
        verify(request, now + 59_000);
        expect(() => verify(request, now + 61_000)).toThrow(S3Error);
      }),
      { numRuns: 50 },
    );
  });

  it("signs the method, the path and the query", async () => {
    const url = await presign({ ...options, key: "cat.png" });
    expect(() => verify(requestOf(url, "DELETE"), now)).toThrow("signature");
    expect(() => verify(requestOf(url.replace("cat", "dog")), now)).toThrow("signature");
    expect(() => verify(requestOf(url.replace("Expires=60", "Expires=90")), now)).toThrow(
      "signature",
    );
  });

  it("refuses a time of more than seven days", async () => {
    await expect(presign({ ...options, key: "a", expiresSeconds: 604_801 })).rejects.toThrow(
      "1 to 604800 seconds",
    );
  });
});
