import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyPolicySignature } from "./policy-signature.ts";

/** The credentials of AWS's examples. */
const credentials = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const policy = Buffer.from('{"expiration":"2030-01-01T00:00:00Z","conditions":[]}').toString(
  "base64",
);

/** The form of version 4, signed step by step as AWS describes it. */
const fourth = (): Map<string, string> => {
  let key: Buffer | string = `AWS4${credentials.secretAccessKey}`;
  for (const word of ["20151229", "us-east-1", "s3", "aws4_request"]) {
    key = createHmac("sha256", key).update(word).digest();
  }
  return new Map([
    ["policy", policy],
    ["x-amz-algorithm", "AWS4-HMAC-SHA256"],
    ["x-amz-credential", `${credentials.accessKeyId}/20151229/us-east-1/s3/aws4_request`],
    ["x-amz-date", "20151229T000000Z"],
    ["x-amz-signature", createHmac("sha256", key).update(policy).digest("hex")],
  ]);
};

const second = (): Map<string, string> =>
  new Map([
    ["policy", policy],
    ["awsaccesskeyid", credentials.accessKeyId],
    ["signature", createHmac("sha1", credentials.secretAccessKey).update(policy).digest("base64")],
  ]);

function isAccepted(fields: Map<string, string>): boolean {
  try {
    verifyPolicySignature(fields, credentials);
    return true;
  } catch {
    return false;
  }
}

describe("verifyPolicySignature()", () => {
  it("accepts both versions", () => {
    expect([isAccepted(fourth()), isAccepted(second())]).toEqual([true, true]);
  });

  it.each([
    ["version 4", fourth],
    ["version 2", second],
  ])("refuses a form of %s in which anything is another or missing", (_, signed) => {
    const accepted = [...signed()].flatMap(([name, value]) => {
      const changed = name === "policy" ? value.toLowerCase() : value.replace(/.$/, "-");
      const altered = new Map([...signed(), [name, changed]]);
      const missing = new Map([...signed()].filter(([field]) => field !== name));
      return isAccepted(altered) || isAccepted(missing) ? [name] : [];
    });
    expect(accepted).toEqual([]);
  });

  it.each([
    ["SignatureDoesNotMatch", { ...credentials, secretAccessKey: "x" }],
    ["InvalidAccessKeyId", { ...credentials, accessKeyId: "x" }],
  ])("refuses other credentials with %s", (code, others) => {
    for (const signed of [fourth, second]) {
      expect(() => verifyPolicySignature(signed(), others)).toThrow(
        expect.objectContaining({ code }),
      );
    }
  });

  it("refuses a form without a policy and a signature", () => {
    expect(() => verifyPolicySignature(new Map([["key", "a"]]), credentials)).toThrow(
      expect.objectContaining({ code: "AccessDenied" }),
    );
  });
});
