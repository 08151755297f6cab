import { describe, expect, it } from "vitest";
import { bucketOfHost, parseTarget, parseParameters, routeRequest } from "./route.ts";

const copySource = { "x-amz-copy-source": "/b/k" };

function route(
  method: string,
  text: string,
  headers: Record<string, string> = {},
  isForAws = false,
): string {
  const target = parseTarget(text, "localhost", []);
  return routeRequest(
    {
      method,
      bucketName: target.bucketName,
      key: target.key,
      parameters: parseParameters(target.query),
      headers: new Map(Object.entries(headers)),
    },
    () => isForAws,
  );
}

function routePost(contentType: string): string {
  const headers = new Map([["content-type", contentType]]);
  const parameters = parseParameters("");
  const request = { method: "POST", bucketName: "b", key: "", parameters, headers };
  return routeRequest(request, () => false);
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
    ["GET", "/b/k?v=2&policy", "GetObject"],
    ["HEAD", "/b/k?v=2", "HeadObject"],
    ["PUT", "/b/k", "PutObject"],
    ["PUT", "/b/k?x-id=PutObject&X-Amz-Date=x&x-amz-checksum-crc32=x", "PutObject"],
    ["GET", "/b?lifecycle&x-id=GetBucketLifecycleConfiguration", "GetBucketLifecycle"],
    ["DELETE", "/b/k?versionId=null", "DeleteObject"],
    ["GET", "/b/k?uploads", "ListMultipartUploads"],
    ["PUT", "/b/k?uploadId=u&partNumber=1", "UploadPart"],
    ["GET", "/b/k?uploadId=u", "ListParts"],
    ["POST", "/b/k?uploads", "CreateMultipartUpload"],
    ["POST", "/b/k?uploadId=u", "CompleteMultipartUpload"],
    ["DELETE", "/b/k?uploadId=u", "AbortMultipartUpload"],
  ])("%s %s is %s", (method, text, verb) => {
    expect(route(method, text)).toBe(verb);
  });

  it("takes parameters of a presigned URL that are headers", () => {
    const mode = { "x-amz-checksum-mode": "ENABLED" };
    expect(route("GET", "/b/k?x-amz-checksum-mode=ENABLED", mode)).toBe("GetObject");
    const kind = { "x-amz-checksum-algorithm": "CRC32" };
    const upload = route("POST", "/b/k?uploads&x-amz-checksum-algorithm=CRC32", kind);
    expect(upload).toBe("CreateMultipartUpload");
  });

  it("refuses a POST of a form", () => {
    expect(() => routePost("Multipart/Form-Data; boundary=x")).toThrow(
      "PostObject not implemented",
    );
    expect(() => routePost("multipart/form-datum")).toThrow("enclosure-type");
  });

  it("takes a PUT with a source for a copy", () => {
    expect(route("PUT", "/b/k", copySource)).toBe("CopyObject");
    expect(route("PUT", "/b/k?uploadId=u&partNumber=1", copySource)).toBe("UploadPartCopy");
    expect(() => route("POST", "/b/k?uploads", copySource)).toThrow("Header 'x-amz-copy-source'");
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
    ["DELETE", "/b/k?tagging", "DeleteObjectTagging not implemented"],
    ["DELETE", "/b/k?acl", "DeleteObject search parameter acl not implemented"],
    ["DELETE", "/b/k?legal-hold", "DeleteObject search parameter legal-hold not implemented"],
    ["DELETE", "/b/k?uploads", "DeleteObject search parameter uploads not implemented"],
    ["DELETE", "/b/k?junk", "DeleteObject search parameter junk not implemented"],
    ["DELETE", "/b/k?uploadId=u&tagging", "AbortMultipartUpload search parameter tagging"],
    ["PUT", "/b/k?renameObject", "RenameObject not implemented"],
    ["PUT", "/b/k?encryption", "UpdateObjectEncryption not implemented"],
    ["PUT", "/b/k?append&position=1", "PutObject search parameter append not implemented"],
    ["PUT", "/b/k?uploadId=u", "PutObject search parameter uploadId not implemented"],
    ["PUT", "/b/k?partNumber=1", "PutObject search parameter partNumber not implemented"],
    ["PUT", "/b/k?versionId=null", "PutObject search parameter versionId not implemented"],
    ["POST", "/b/k", "POST of an object without a known subresource not implemented"],
    ["POST", "/b/k?uploadId=u&partNumber=1", "search parameter partNumber not implemented"],
    ["HEAD", "/b/k?acl", "HeadObject search parameter acl not implemented"],
    ["HEAD", "/b?junk", "HeadBucket search parameter junk not implemented"],
    ["POST", "/b?delete&junk", "DeleteObjects search parameter junk not implemented"],
    ["GET", "/b?cors&junk", "GetBucketCors search parameter junk not implemented"],
    ["GET", "/b?location&junk", "Search param junk is unsupported for bucket location"],
    ["PUT", "/b/k?x-id=RenameObject", "Operation RenameObject by a request for PutObject not impl"],
    ["GET", "/?x-id=ListDirectoryBuckets", "Operation ListDirectoryBuckets by a request for List"],
    ["PUT", "/b/k?x-amz-storage-class=STANDARD", "search parameter x-amz-storage-class not impl"],
    ["PUT", "/b/k?x-amz-copy-source=%2Fb%2Fk", "PutObject search parameter x-amz-copy-source"],
    ["GET", "/b/k?x-amz-acl=private", "GetObject search parameter x-amz-acl not implemented"],
    ["PUT", "/b/k?x-amz-checksum-sha512=x", "search parameter x-amz-checksum-sha512 not impl"],
    ["PATCH", "/b/k", "No route matches"],
    ["POST", "/", "No route matches"],
    ["PUT", "/b/k?uploadId=u&partNumber=1.0", "No route matches"],
  ])("refuses %s %s: %s", (method, text, message) => {
    expect(() => route(method, text)).toThrow(message);
  });
});

describe("routeRequest() reads headers, and", () => {
  it.each([
    ["PUT", "/b/k", { "x-amz-acl": "public-read", "x-amz-server-side-encryption": "AES256" }],
    ["PUT", "/b/k", { "x-amz-meta-a": "1", "x-amz-storage-class": "STANDARD_IA" }],
    ["PUT", "/b/k?X-Amz-Storage-Class=STANDARD", { "x-amz-storage-class": "STANDARD" }],
    ["PUT", "/b/k", { ...copySource, "cf-copy-destination-if-match": "*" }],
    ["PUT", "/b/k", { ...copySource, "x-amz-object-annotation-directive": "EXCLUDE" }],
    ["PUT", "/b/k", { "x-amz-metadata-directive": "REPLACE" }],
    ["DELETE", "/b/k", { "x-amz-api-version": "2006-03-01" }],
    ["POST", "/b/k?uploads", { "x-amz-metadata-directive": "REPLACE" }],
    ["PUT", "/b", { "x-amz-object-ownership": "BucketOwnerEnforced" }],
    ["GET", "/b/k", { "cf-ray": "1", "cf-connecting-ip": "1", "cdn-loop": "1" }],
    ["GET", "/b/k", { "x-amz-te": "append-md5", "x-amz-request-payer": "requester" }],
    ["DELETE", "/b/k", { "x-amz-date": "d", "x-amz-content-sha256": "s", "if-match": "e" }],
  ] as const)("accepts %s %s with %j", (method, text, headers) => {
    expect(() => route(method, text, { ...headers })).not.toThrow();
  });

  it.each([
    ["PUT", "/b/k", "x-amz-tagging", "a=b"],
    ["PUT", "/b/k", "x-amz-acl", "other"],
    ["PUT", "/b/k", "x-amz-server-side-encryption", "aws:kms"],
    ["PUT", "/b/k", "x-amz-write-offset-bytes", "3"],
    ["PUT", "/b/k", "x-amz-rename-source", "/b/k"],
    ["PUT", "/b/k", "x-amz-checksum-sha512", "x"],
    ["PUT", "/b/k", "x-amz-checksum-algorithm", "MD5"],
    ["PUT", "/b/k", "x-amz-object-lock-mode", "GOVERNANCE"],
    ["PUT", "/b/k", "x-amz-website-redirect-location", "/"],
    ["PUT", "/b/k", "x-amz-metadata-directive", "COPY"],
    ["PUT", "/b/k", "x-amz-object-annotation-directive", "EXCLUDE"],
    ["PUT", "/b/k", "x-amz-copy-source-range", "bytes=0-1"],
    ["PUT", "/b/k", "x-amz-copy-source-if-match", "e"],
    ["PUT", "/b/k", "cf-copy-destination-if-match", "e"],
    ["PUT", "/b/k", "cf-junk", "1"],
    ["PUT", "/b/k?uploadId=u&partNumber=1", "x-amz-server-side-encryption", "AES256"],
    ["POST", "/b/k?uploads", "x-amz-grant-read", "id=x"],
    ["DELETE", "/b/k", "x-amz-mfa", "1"],
    ["DELETE", "/b/k", "x-amz-api-version", "2007-01-01"],
    ["DELETE", "/b/k", "x-amz-if-match-size", "1"],
    ["DELETE", "/b/k?uploadId=u", "x-amz-if-match-initiated-time", "1"],
    ["POST", "/b?delete", "x-amz-bypass-governance-retention", "true"],
    ["GET", "/b/k", "x-amz-junk", "1"],
    ["HEAD", "/b", "x-amz-expected-bucket-owner", "1"],
    ["PUT", "/b", "x-amz-bucket-object-lock-enabled", "true"],
  ])("refuses %s %s with %s: %s", (method, text, name, value) => {
    expect(() => route(method, text, { [name]: value })).toThrow(
      `Header '${name}' with value '${value}' not implemented`,
    );
  });
});

describe("routeRequest() in a bucket for AWS's clients", () => {
  const part = "/b/k?uploadId=u&partNumber=1";
  it.each([
    ["GET", "/b/k?tagging", {}],
    ["GET", "/b/k?tagging&versionId=null&x-id=GetObjectTagging", {}],
    ["PUT", "/b/k", { ...copySource, "x-amz-tagging-directive": "COPY" }],
    ["PUT", "/b/k", { ...copySource, "x-amz-tagging-directive": "REPLACE" }],
    ["PUT", part, { ...copySource, "x-amz-copy-source-if-match": "e" }],
    ["PUT", part, { ...copySource, "x-amz-copy-source-if-none-match": "e" }],
    ["PUT", part, { ...copySource, "x-amz-copy-source-if-modified-since": "t" }],
    ["PUT", part, { ...copySource, "x-amz-copy-source-if-unmodified-since": "t" }],
    [
      "PUT",
      `${part}&X-Amz-Copy-Source-If-Match=e`,
      { ...copySource, "x-amz-copy-source-if-match": "e" },
    ],
  ] as const)("accepts %s %s with %j, which others refuse", (method, text, headers) => {
    expect(() => route(method, text, headers, true)).not.toThrow();
    expect(() => route(method, text, headers)).toThrow(
      / not implemented\. The deployed service refuses this\. The option s3_compatibility = "aws" of the bucket accepts it\.$/,
    );
  });

  it.each([
    ["PUT", "/b/k", { ...copySource, "x-amz-tagging-directive": "other" }],
    ["PUT", "/b/k", { ...copySource, "x-amz-tagging": "a=b" }],
    ["PUT", "/b/k", { "x-amz-tagging-directive": "COPY" }],
    ["PUT", part, { "x-amz-copy-source-if-match": "e" }],
    ["PUT", part, { ...copySource, "x-amz-tagging-directive": "COPY" }],
    ["PUT", "/b/k?tagging", {}],
    ["DELETE", "/b/k?tagging", {}],
    ["GET", "/b/k?tagging&junk", {}],
  ] as const)("refuses %s %s with %j, as others do", (method, text, headers) => {
    for (const isForAws of [true, false]) {
      expect(() => route(method, text, headers, isForAws)).toThrow("not implemented");
    }
    expect(() => route(method, text, headers, true)).not.toThrow("s3_compatibility");
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
