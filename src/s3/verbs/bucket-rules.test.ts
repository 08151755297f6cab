/** The rules that a bucket stores: CORS and lifecycle. */
import { describe, expect, it } from "vitest";
import { writeXml } from "../../http/xml.ts";
import { S3Error } from "../s3-errors.ts";
import { grantedHeaders } from "../../store/core/cors.ts";
import {
  corsElements,
  parseCorsDocument,
  preflightResponse,
  parseLifecycleDocument,
} from "./bucket-rules.ts";

const rules = parseCorsDocument(`<CORSConfiguration>
  <CORSRule><AllowedOrigin>https://*.app.test</AllowedOrigin><AllowedMethod>PUT</AllowedMethod>
    <AllowedHeader>x-amz-*</AllowedHeader><ExposeHeader>ETag</ExposeHeader>
    <MaxAgeSeconds>60</MaxAgeSeconds></CORSRule>
  <CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>
</CORSConfiguration>`);

const writeRules = (given: Parameters<typeof corsElements>[0]) =>
  writeXml("CORSConfiguration", corsElements(given));
const preflight = (values: Record<string, string>) =>
  preflightResponse(rules, new Map(Object.entries(values)));

describe("CORS rules", () => {
  it("grant what the first matching rule allows", () => {
    const origin = "https://a.app.test";
    expect(grantedHeaders(rules, { origin, method: "PUT" })).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "ETag",
    });
    expect(grantedHeaders(rules, { origin: "http://b", method: "GET" })).toMatchObject({
      "access-control-allow-origin": "*",
    });
    expect(grantedHeaders(rules, { origin: "http://b", method: "PUT" })).toBeUndefined();
  });

  it("answer a preflight", () => {
    const asked = {
      origin: "https://a.app.test",
      "access-control-request-method": "PUT",
      "access-control-request-headers": "X-Amz-Date",
    };
    expect(preflight(asked)).toMatchObject({
      status: 200,
      headers: { "access-control-allow-headers": "x-amz-date", "access-control-max-age": "60" },
    });
    const other = { ...asked, "access-control-request-headers": "authorization" };
    expect(() => preflight(other)).toThrow("This CORS request is not allowed");
    expect(() => preflightResponse([], new Map(Object.entries(asked)))).toThrow(
      "CORS is not enabled",
    );
    expect(() => preflight({})).toThrow("Insufficient information");
  });

  it("are the same after they have been written", () => {
    expect(parseCorsDocument(writeRules(rules))).toEqual(rules);
  });

  it.each([
    ["<CORSConfiguration/>", "not well formed"],
    ["<CORSConfiguration><CORSRule/></CORSConfiguration>", "not well formed"],
    [writeRules([{ allowedOrigins: ["*"], allowedMethods: ["PATCH"] }]), "PATCH"],
    [writeRules([{ allowedOrigins: ["*a*"], allowedMethods: ["GET"] }]), "one wildcard"],
  ])("refuse %s", (document, text) => {
    expect(() => parseCorsDocument(document)).toThrow(text);
  });
});

const rule = (content: string) =>
  `<LifecycleConfiguration><Rule>${content}</Rule></LifecycleConfiguration>`;

const expires = (date: string) => `<Expiration><Date>${date}</Date></Expiration>`;

const days = (count: number | string) => `<Days>${count}</Days>`;
const expiration = (content: string) => `<Expiration>${content}</Expiration>`;
const transition = (content: string, storageClass = "STANDARD_IA") =>
  `<Transition>${content}<StorageClass>${storageClass}</StorageClass></Transition>`;
const enabled = (content: string) => rule(`<Status>Enabled</Status>${content}`);

function refusalOf(document: string): string | null {
  try {
    parseLifecycleDocument(document);
    return null;
  } catch (error) {
    return error instanceof S3Error ? `${error.code}: ${error.message}` : String(error);
  }
}

describe("parseLifecycleDocument()", () => {
  const abort =
    "<AbortIncompleteMultipartUpload><DaysAfterInitiation>2</DaysAfterInitiation></AbortIncompleteMultipartUpload>";

  it.each([
    [`<Filter><Prefix>a/</Prefix></Filter>`, "a/"],
    [`<Filter><And><Prefix>b/</Prefix></And></Filter>`, "b/"],
    [`<Prefix>c/</Prefix>`, "c/"],
    [`<Filter/>`, ""],
  ])("finds when uploads are aborted: %s", (filter, prefix) => {
    const document = rule(`${filter}<Status>Enabled</Status>${abort}`);
    expect(parseLifecycleDocument(document).abortRules).toEqual([{ prefix, days: 2 }]);
  });

  it("keeps rules that are disabled", () => {
    const { text, abortRules, objectRules } = parseLifecycleDocument(
      rule(`<ID>one</ID><Status>Disabled</Status>${expiration(days(1))}${abort}`),
    );
    expect([abortRules, objectRules]).toEqual([[], []]);
    expect(text).toContain(`<ID>one</ID><Status>Disabled</Status>${abort}${expiration(days(1))}`);
    expect(parseLifecycleDocument(text).text).toBe(text);
  });

  it("finds when objects are deleted, and when they change their class", () => {
    const filter = "<Filter><Prefix>a/</Prefix></Filter>";
    const document = enabled(
      `${filter}${expiration(days(30))}${transition(days(0))}${transition("<Date>2030-01-01</Date>")}`,
    );
    expect(parseLifecycleDocument(document).objectRules).toEqual([
      { prefix: "a/", action: "delete", after: { days: 30 } },
      { prefix: "a/", action: "InfrequentAccess", after: { days: 0 } },
      { prefix: "a/", action: "InfrequentAccess", after: { time: Date.parse("2030-01-01") } },
    ]);
    const marker = "<ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>";
    expect(parseLifecycleDocument(enabled(expiration(marker))).objectRules).toEqual([]);
  });

  it.each([
    "<Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>",
    "<Filter><And><Prefix>a/</Prefix><Tag><Key>k</Key><Value>v</Value></Tag></And></Filter>",
  ])("keeps a rule that no object can match: %s", (filter) => {
    const { text, ...followed } = parseLifecycleDocument(
      enabled(`${filter}${expiration(days(1))}${abort}`),
    );
    expect(followed).toEqual({ abortRules: [], objectRules: [] });
    expect(text).toContain("<Tag>");
  });

  it.each([
    [expiration(days(0)), "InvalidArgument: 'Days' for Expiration action must be a positive"],
    [expiration(days(-1)), "InvalidArgument: 'Days' for Expiration action must be a positive"],
    [transition(days(-1)), "InvalidArgument: 'Days' for Transition action must be nonnegative"],
    [expiration(days("one")), "MalformedXML"],
    [expiration(days("")), "MalformedXML"],
    [expiration(""), "MalformedXML"],
    [expiration(`${days(1)}<Date>2030-01-01</Date>`), "MalformedXML"],
    [transition(days(1), "GLACIER"), "InvalidStorageClass"],
    [
      `<Filter><ObjectSizeGreaterThan>1</ObjectSizeGreaterThan></Filter>${expiration(days(1))}`,
      "NotImplemented: ObjectSizeGreaterThan not implemented",
    ],
  ])("refuses %s with %s", (content, expected) => {
    for (const status of ["Enabled", "Disabled"]) {
      const document = rule(`<Status>${status}</Status>${content}`);
      expect(refusalOf(document)).toContain(expected);
    }
  });

  it.each(["2030-01-01", "2030-01-01T00:00:00.000Z", "2030-01-01T02:00:00+02:00"])(
    "takes the date %s",
    (date) => {
      const document = rule(`<Status>Enabled</Status>${expires(date)}`);
      expect(parseLifecycleDocument(document).text).toContain(date);
    },
  );

  it.each([
    ["<LifecycleConfiguration/>", "not well formed"],
    [rule(abort), "not well formed"],
    [rule("<Status>Enabled</Status>"), "not well formed"],
    [rule(`<Status>Enabled</Status>${abort.replace("2", "0")}`), "not well formed"],
    [rule(`<ID>${"i".repeat(256)}</ID><Status>Enabled</Status>${abort}`), "limit of 255"],
    [rule(`<Status>Enabled</Status>${expires("20300101")}`), "not well formed"],
    [rule(`<Status>Enabled</Status>${expires("2030-01-01T01:00:00Z")}`), "at midnight GMT"],
    [
      rule("<Status>Enabled</Status><NoncurrentVersionExpiration/>"),
      "NoncurrentVersionExpiration not implemented",
    ],
  ])("refuses %s", (document, text) => {
    expect(() => parseLifecycleDocument(document)).toThrow(text);
  });
});
