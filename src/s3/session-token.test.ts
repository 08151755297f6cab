/** Session tokens that the parent has signed, and altered ones. */
import { createHmac, hash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { S3Error } from "./s3-errors.ts";
import { readSessionToken } from "./session-token.ts";

const parent = { accessKeyId: "parent", secretAccessKey: "the secret of the parent" };
const now = Date.parse("2026-11-19T10:00:00Z");
const claims = {
  iss: "parent",
  sub: "account",
  aud: "localhost:8789",
  iat: now / 1000,
  exp: now / 1000 + 900,
  bucket: "photos",
  scope: "object-read-only",
};

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function jwtOf(content: unknown, header: object = { alg: "HS256", typ: "JWT" }): string {
  const signed = `${encode(header)}.${encode(content)}`;
  const signature = createHmac("sha256", parent.secretAccessKey).update(signed).digest("base64url");
  return `${signed}.${signature}`;
}

const tokenOf = (jwt: string): string => Buffer.from(`jwt/${jwt}`).toString("base64");
const read = (token: string, time = now) => readSessionToken(token, parent, time);

/** The code and the reason of the refusal; `null` without one. */
function refusal(token: string, time = now): string | null {
  try {
    read(token, time);
    return null;
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    return `${error.code}: ${error.details["Reason"] ?? error.message}`;
  }
}

describe("readSessionToken()", () => {
  it("finds the secret of the holder, and what the holder may do", () => {
    const jwt = jwtOf({
      ...claims,
      actions: ["GetObject"],
      paths: { prefixPaths: ["a/"], objectPaths: ["b"] },
    });
    expect(read(tokenOf(jwt))).toEqual({
      secretAccessKey: hash("sha256", jwt, "hex"),
      permissions: {
        bucketName: "photos",
        scope: "object-read-only",
        actions: ["GetObject"],
        paths: { prefixPaths: ["a/"], objectPaths: ["b"] },
      },
    });
  });

  it("takes one of scope and actions, and one list of paths", () => {
    const { scope: _, ...rest } = claims;
    const jwt = jwtOf({ ...rest, actions: [], paths: { prefixPaths: ["a/"] } });
    expect(read(tokenOf(jwt)).permissions).toEqual({
      bucketName: "photos",
      scope: undefined,
      actions: [],
      paths: { prefixPaths: ["a/"], objectPaths: [] },
    });
  });

  it("ends with the second of exp", () => {
    const token = tokenOf(jwtOf(claims));
    const end = claims.exp * 1000;
    expect(refusal(token, end - 1)).toBeNull();
    expect(refusal(token, end)).toBe("ExpiredToken: The provided token has expired.");
  });

  it.each([
    [{ iss: "other" }, "iss of the session token is not the access key id"],
    [{ exp: undefined }, "exp of the session token"],
    [{ exp: "tomorrow" }, "exp of the session token"],
    [{ nbf: now / 1000 + 1 }, "not valid yet"],
    [{ bucket: undefined }, "bucket of the session token"],
    [{ bucket: "" }, "bucket of the session token"],
    [{ scope: undefined }, "neither scope nor actions"],
    [{ scope: "everything" }, "scope of the session token"],
    [{ actions: "GetObject" }, "actions of the session token"],
    [{ paths: ["a/"] }, "paths"],
    [{ paths: { prefixPaths: "a/" } }, "paths.prefixPaths of the session token"],
  ])("refuses %j", (changed, reason) => {
    const text = refusal(tokenOf(jwtOf({ ...claims, ...changed })));
    expect(text).toMatch(/^Unauthorized: /);
    expect(text).toContain(reason);
  });

  it("refuses other algorithms, also with the signature of HS256", () => {
    const refusedText = "Unauthorized: the algorithm of the session token is not HS256";
    expect(refusal(tokenOf(jwtOf(claims, { alg: "none" })))).toBe(refusedText);
    expect(refusal(tokenOf(jwtOf(claims, { alg: "HS512" })))).toBe(refusedText);
    expect(refusal(tokenOf(jwtOf(claims, [])))).toBe(refusedText);
    expect(refusal(tokenOf(jwtOf("text")))).toContain("claims of the session token");
  });

  it("refuses the signature of another secret, and none", () => {
    const [header, content] = jwtOf(claims).split(".") as [string, string];
    const other = createHmac("sha256", "another").update(`${header}.${content}`);
    const reason = "Unauthorized: the secret access key of the server has not signed";
    expect(refusal(tokenOf(`${header}.${content}.${other.digest("base64url")}`))).toContain(reason);
    expect(refusal(tokenOf(`${header}.${content}.`))).toBe("InvalidArgument: X-Amz-Security-Token");
  });

  it.each(["", "x", "AQoDYXdzEJr", jwtOf(claims), tokenOf(jwtOf(claims)).slice(8)])(
    "refuses what is no token of this form: %s",
    (token) => {
      expect(refusal(token)).toBe("InvalidArgument: X-Amz-Security-Token");
    },
  );

  it("accepts no altered token", () => {
    const jwt = jwtOf(claims);
    fc.assert(
      fc.property(
        fc.nat(jwt.length - 1),
        fc.constantFrom("A", "B", "a", "b", "0", "1", "-", "_", "."),
        (index, character) => {
          const altered = jwt.slice(0, index) + character + jwt.slice(index + 1);
          expect(refusal(tokenOf(altered)) === null).toBe(altered === jwt);
        },
      ),
    );
  });

  it("throws only its own error for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(refusal(tokenOf(text))).not.toBeNull();
        expect(refusal(text)).not.toBeNull();
      }),
    );
  });
});
