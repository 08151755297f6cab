import { describe, expect, it } from "vitest";
import { parseTarget, parseParameters } from "./request-target.ts";
import { routeRequest } from "./route.ts";

function route(method: string, text: string, isCopy = false): string {
  const target = parseTarget(text, "localhost", []);
  return routeRequest({
    method,
    bucketName: target.bucketName,
    key: target.key,
    parameters: parseParameters(target.query),
    headers: { get: () => (isCopy ? "/b/k" : null), withPrefix: () => [] },
  });
}

function routePost(contentType: string): string {
  const headers = { get: () => contentType, withPrefix: () => [] };
  const parameters = parseParameters("");
  return routeRequest({ method: "POST", bucketName: "b", key: null, parameters, headers });
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

  it("takes a POST of a form for an upload", () => {
    expect(routePost("Multipart/Form-Data; boundary=x")).toBe("PostObject");
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
