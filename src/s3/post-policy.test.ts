import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { expandFields, fieldHeaders, postResponse, requireField } from "./form-fields.ts";
import { checkPolicy, limitSize, parsePolicy } from "./post-policy.ts";

const expiration = "2030-01-01T00:00:00Z";
const now = Date.parse("2029-12-31T23:59:59Z");

function encode(document: unknown): string {
  return Buffer.from(JSON.stringify(document)).toString("base64");
}

function policyWith(...conditions: unknown[]) {
  return parsePolicy(encode({ expiration, conditions }));
}

function check(conditions: unknown[], fields: Record<string, string>, time = now): void {
  checkPolicy(policyWith(...conditions), new Map(Object.entries(fields)), time);
}

describe("parsePolicy()", () => {
  it("reads conditions in each form, with names in any case", () => {
    const policy = policyWith(
      { bUcket: "photos" },
      ["StArTs-With", "$KEY", "user/"],
      ["eq", "$acl", "é"],
      ["content-length-range", 1, "10"],
      ["Content-Length-Range", 0, 8],
    );
    expect(policy).toEqual({
      expires: Date.parse(expiration),
      conditions: [
        { operator: "eq", name: "bucket", value: "photos" },
        { operator: "starts-with", name: "key", value: "user/" },
        { operator: "eq", name: "acl", value: "é" },
      ],
      size: { min: 1, max: 8 },
    });
  });

  it.each([
    ["no JSON", Buffer.from("{").toString("base64"), "Invalid JSON"],
    ["no base64", "?", "Invalid JSON"],
    ["a list", encode([]), "Invalid JSON"],
    ["no expiration", encode({ EXPIRATION: expiration, conditions: [] }), "missing expiration"],
    ["no conditions", encode({ expiration, CONDITIONS: [] }), "missing conditions"],
    ["another date", encode({ expiration: "2030-01-01 00:00:00", conditions: [] }), "'expiration'"],
    ["a day that is none", encode({ expiration: "2030-13-01T00:00:00Z", conditions: [] }), "'exp"],
    ["conditions that are no list", encode({ expiration, conditions: {} }), "not a list"],
    ["an empty condition", encode({ expiration, conditions: [{}] }), "exactly one property"],
    ["two conditions in one", encode({ expiration, conditions: [{ a: "", b: "" }] }), "exactly"],
    ["a value that is no text", encode({ expiration, conditions: [{ key: 1 }] }), "string"],
    ["an operator", encode({ expiration, conditions: [["in", "$key", "a"]] }), "Invalid Condition"],
    ["a name", encode({ expiration, conditions: [["eq", "key", "a"]] }), "Invalid Condition"],
    ["one size", encode({ expiration, conditions: [["content-length-range", 0]] }), "Invalid"],
    ["a size", encode({ expiration, conditions: [["content-length-range", -1, 0]] }), "Invalid"],
  ])("refuses %s", (_, text, message) => {
    expect(() => parsePolicy(text)).toThrow(
      expect.objectContaining({
        code: "InvalidPolicyDocument",
        message: expect.stringContaining(message),
      }),
    );
  });
});

describe("checkPolicy()", () => {
  const conditions = [{ bucket: "photos" }, ["starts-with", "$key", "user/"]];
  const fields = { bucket: "photos", key: "user/a", policy: "p", signature: "s", file: "f" };

  it("accepts fields that match, and fields that need no condition", () => {
    const free = { ...fields, awsaccesskeyid: "id", "x-ignore-this": "x" };
    expect(() => check(conditions, free)).not.toThrow();
    const anyAcl = [...conditions, ["starts-with", "$acl", ""]];
    expect(() => check(anyAcl, { ...fields, acl: "any" })).not.toThrow();
  });

  it.each([
    ["another bucket", conditions, { ...fields, bucket: "other" }, '["eq","$bucket","photos"]'],
    ["another key", conditions, { ...fields, key: "User/a" }, '["starts-with","$key","user/"]'],
    ["a missing field", [...conditions, ["starts-with", "$acl", ""]], fields, '"$acl",""'],
    ["a field without a condition", conditions, { ...fields, acl: "x" }, "Extra input fields: acl"],
    ["a policy for any bucket", conditions.slice(1), fields, "Extra input fields: bucket"],
  ])("refuses %s", (_, list, given, message) => {
    expect(() => check(list, given)).toThrow(
      expect.objectContaining({ code: "AccessDenied", message: expect.stringContaining(message) }),
    );
  });

  it("refuses a policy from the moment of its expiration", () => {
    expect(() => check(conditions, fields, Date.parse(expiration))).toThrow("Policy expired");
  });
});

async function* piecesOf(bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; at += 2) yield new Uint8Array(Math.min(2, bytes - at));
}

async function sizeOf(bytes: number, size: { min: number; max: number }): Promise<number> {
  return (await buffer(limitSize(piecesOf(bytes), size))).length;
}

describe("limitSize()", () => {
  it("passes on content of an allowed size, and refuses any other", async () => {
    expect(await sizeOf(3, { min: 3, max: 3 })).toBe(3);
    await expect(sizeOf(4, { min: 0, max: 3 })).rejects.toThrow("exceeds the maximum");
    await expect(sizeOf(2, { min: 3, max: 9 })).rejects.toThrow("smaller than the minimum");
    await expect(sizeOf(1e9, { min: 0, max: 3 })).rejects.toThrow("exceeds the maximum");
  });
});

describe("the fields of a form", () => {
  it("have the name of the file, without folders, for ${filename}", () => {
    const fields = new Map([["key", "a/${filename}/${filename}"]]);
    for (const name of ["C:\\pictures\\$&.png", "/home/$&.png", "$&.png"]) {
      expect(expandFields(fields, name).get("key")).toBe("a/$&.png/$&.png");
    }
  });

  it("are the headers of a put", () => {
    const headers = fieldHeaders(
      new Map([
        ["acl", "private"],
        ["x-amz-meta-a", "1"],
      ]),
    );
    expect([headers.get("x-amz-acl"), headers.get("acl")]).toEqual(["private", null]);
    expect(headers.withPrefix("x-amz-meta-")).toEqual([["x-amz-meta-a", "1"]]);
    expect(() => requireField(new Map([["key", ""]]), "Key")).toThrow("field named 'Key'");
  });

  const posted = {
    bucketName: "photos",
    bucketUrl: "http://localhost/photos",
    key: "a b/c",
    etag: "e",
    headers: {},
  };

  it.each([
    ["200", 200],
    ["201", 201],
    ["204", 204],
    ["404", 204],
    [undefined, 204],
  ])("ask for the status %s and get %s", (asked, status) => {
    const fields = new Map(asked === undefined ? [] : [["success_action_status", asked]]);
    const response = postResponse(fields, posted);
    expect([response.status, response.headers["etag"]]).toEqual([status, '"e"']);
    const document = expect.stringContaining("<Key>a b/c</Key>") as unknown;
    expect(response.body).toEqual(status === 201 ? document : undefined);
  });

  const redirect = (url: string) =>
    postResponse(new Map([["success_action_redirect", url]]), posted);

  it("ask for another page, and not for a script", () => {
    expect(redirect("https://example.org/done?x=1")).toEqual({
      status: 303,
      headers: {
        etag: '"e"',
        location: "https://example.org/done?x=1&bucket=photos&key=a+b%2Fc&etag=%22e%22",
      },
    });
    expect(redirect("javascript:alert(1)").status).toBe(204);
    expect(redirect("nowhere").status).toBe(204);
  });
});
