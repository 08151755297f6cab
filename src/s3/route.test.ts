import { describe, expect, it } from "vitest";
import { bucketOfHost, parseTarget, parseParameters, routeRequest } from "./route.ts";

function route(method: string, text: string, isCopy = false): string {
  const target = parseTarget(text, "localhost", []);
  return routeRequest({
    method,
    bucketName: target.bucketName,
    key: target.key,
    parameters: parseParameters(target.query),
    headers: new Map(isCopy ? [["x-amz-copy-source", "/b/k"]] : []),
  });
}

function routePost(contentType: string): string {
  const headers = new Map([["content-type", contentType]]);
  const parameters = parseParameters("");
  return routeRequest({ method: "POST", bucketName: "b", key: "", parameters, headers });
}

describe("routeRequest()", () => {
  it.each([
    ["GET", "/", "ListBuckets"],
    ["GET", "/?x-id=ListBuckets&X-Amz-Date=x", "ListBuckets"],
    ["HEAD", "/b", "HeadBucket"],
    ["PUT", "/b", "CreateBucket"],
    ["PUT", "/b?cors", "PutBucketCors"],
    ["DELETE", "/b", "DeleteBucket"],
    ["DELETE", "/b?lifecycle", "DeleteBucketLifecycle"],
    ["GET", "/b", "ListObjects"],
    ["GET", "/b?list-type=2&prefix=a&fetch-owner=true", "ListObjectsV2"],
    ["GET", "/b?versions&prefix=a", "ListObjectVersions"],
    ["GET", "/b?uploads&delimiter=", "ListMultipartUploads"],
    ["GET", "/b?location=", "GetBucketLocation"],
    ["GET", "/b?object-lock", "GetObjectLockConfiguration"],
    ["POST", "/b?delete", "DeleteObjects"],
    ["GET", "/b/k", "GetObject"],
    ["GET", "/b/k?partNumber=1", "GetObject"],
    ["HEAD", "/b/k?acl", "HeadObject"],
    ["PUT", "/b/k", "PutObject"],
    ["POST", "/b/k", "PutObject"],
    ["PUT", "/b/k?uploadId=u", "PutObject"],
    ["PUT", "/b/k?uploadId=u&partNumber=1", "UploadPart"],
    ["GET", "/b/k?uploadId=u", "ListParts"],
    ["POST", "/b/k?uploads", "CreateMultipartUpload"],
    ["POST", "/b/k?uploadId=u", "CompleteMultipartUpload"],
    ["DELETE", "/b/k?uploadId=u", "AbortMultipartUpload"],
    ["DELETE", "/b/k?tagging", "DeleteObject"],
  ])("%s %s is %s", (method, text, verb) => {
    expect(route(method, text)).toBe(verb);
  });

  it("refuses a POST of a form", () => {
    expect(() => routePost("Multipart/Form-Data; boundary=x")).toThrow(
      "PostObject not implemented",
    );
    expect(() => routePost("multipart/form-datum")).toThrow("enclosure-type");
  });

  it("takes a PUT with a source for a copy", () => {
    expect(route("PUT", "/b/k", true)).toBe("CopyObject");
    expect(route("PUT", "/b/k?uploadId=u&partNumber=1", true)).toBe("UploadPartCopy");
  });

  it.each([
    ["GET", "/b?policy", "GetBucketPolicy not implemented"],
    ["GET", "/b?policyStatus", "GetGetBucketPolicyStatus not implemented"],
    ["PUT", "/b?junk&tagging", "PutBucketTagging not implemented"],
    ["DELETE", "/b?policy", "DeleteBucketPolicy not implemented"],
    ["DELETE", "/b?versioning&junk", 'param(s) "versioning", "junk" on a DELETE bucket route'],
    ["PUT", "/b?junk", 'Unsupported search param(s) "junk" on a PUT bucket route'],
    ["GET", "/b?foobar=1", "ListObjectsV1 search parameter foobar not implemented"],
    ["GET", "/b?list-type=2&foobar", "ListObjectsV2 search parameter foobar not implemented"],
    ["GET", "/b?list-type=3", "ListObjectsV3 not implemented"],
    ["GET", "/b?continuation-token=x", "continuation-token not supported in ListObjects"],
    ["GET", "/b?toString", "search parameter toString"],
    ["GET", "/?foobar=1", "ListBuckets search parameter foobar not implemented"],
    ["POST", "/b", "multipart/form-data"],
    ["GET", "/b/k?tagging", "GetObjectTagging not implemented"],
    ["PUT", "/b/k?acl", "PutObjectAcl not implemented"],
    ["PATCH", "/b/k", "No route matches"],
    ["POST", "/", "No route matches"],
    ["PUT", "/b/k?uploadId=u&partNumber=1.0", "No route matches"],
  ])("refuses %s %s: %s", (method, text, message) => {
    expect(() => route(method, text)).toThrow(message);
  });
});

const target = (text: string, host = "localhost:8789", hosts: string[] = []) => {
  const { bucketName, key, query } = parseTarget(text, host, hosts);
  return { bucketName, key, query };
};

describe("parseTarget()", () => {
  it.each([
    ["/", "", ""],
    ["/photos", "photos", ""],
    ["/photos/", "photos", ""],
    ["/photos/a.jpg", "photos", "a.jpg"],
    ["/photos/a/../b//c", "photos", "a/../b//c"],
    ["/photos/a%2Fb+c%20d", "photos", "a/b+c d"],
    ["/photos//", "photos", "/"],
    ["/photos/%C3%A9", "photos", "é"],
    ["/photos/\u00c3\u00a9", "photos", "é"],
    ["http://localhost:8789/photos/a", "photos", "a"],
  ])("reads %s in path style", (text, bucketName, key) => {
    expect(target(text)).toEqual({ bucketName, key, query: "" });
  });

  it("reads the bucket of the host in virtual-host style", () => {
    expect(target("/a/b?x=1", "photos.localhost:8789")).toEqual({
      bucketName: "photos",
      key: "a/b",
      query: "x=1",
    });
    expect(target("/", "photos.s3.test", ["s3.test"])).toEqual({
      bucketName: "photos",
      key: "",
      query: "",
    });
    expect(target("/photos", "s3.test", ["s3.test"]).bucketName).toBe("photos");
  });

  it("refuses a key that is not UTF-8", () => {
    expect(() => target("/photos/%FF")).toThrow(URIError);
    expect(() => target("/photos/%")).toThrow(URIError);
  });
});

describe("bucketOfHost()", () => {
  it.each([
    ["localhost", null],
    ["127.0.0.1:8789", null],
    ["[::1]:8789", null],
    ["photos.localhost", "photos"],
    ["s3.localhost", null],
    ["photos.s3.localhost", "photos"],
    ["localhost.evil.test", null],
  ])("of %s is %j", (host, bucketName) => {
    expect(bucketOfHost(host, ["s3.localhost"])).toBe(bucketName);
  });
});

it("parseParameters() decodes the query, and keeps the first of equal names", () => {
  const parameters = parseParameters("prefix=a%2Fb+c&prefix=d&uploads");
  expect(parameters.get("prefix")).toBe("a/b c");
  expect(parameters.has("uploads")).toBe(true);
  expect(parameters.get("none")).toBeUndefined();
});
