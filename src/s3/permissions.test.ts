import { describe, expect, it } from "vitest";
import { requireKey, requirePermission, type Permissions } from "./permissions.ts";
import { S3Error } from "./s3-errors.ts";
import { verbs, type Verb } from "./s3-operations.ts";
import { accountVerbs } from "./verbs/bucket-verbs.ts";

const everyVerb = [...Object.keys(accountVerbs), ...Object.keys(verbs)] as Verb[];
const whole: Permissions = {
  bucketName: "photos",
  scope: undefined,
  actions: undefined,
  paths: undefined,
};
const paths = { prefixPaths: ["a/"], objectPaths: ["b"] };

interface Asked {
  readonly bucketName?: string;
  readonly key?: string;
  readonly prefix?: string;
}

function isPermitted(
  permissions: Permissions | null,
  verb: Verb,
  { bucketName = verb === "ListBuckets" ? "" : "photos", key = "a/b", prefix }: Asked = {},
): boolean {
  const parameters = new Map(prefix === undefined ? [] : [["prefix", prefix]]);
  try {
    requirePermission(verb, { permissions, bucketName, key, parameters });
    return true;
  } catch (error) {
    if (error instanceof S3Error && error.status === 403) return false;
    throw error;
  }
}

const permitted = (scope: Permissions["scope"]): Verb[] =>
  everyVerb.filter((verb) => isPermitted({ ...whole, scope }, verb));

const reads = [
  "GetBucketLocation",
  "GetObject",
  "GetObjectTagging",
  "HeadBucket",
  "HeadObject",
  "ListMultipartUploads",
  "ListObjectVersions",
  "ListObjects",
  "ListObjectsV2",
  "ListParts",
];
const writes = [
  "AbortMultipartUpload",
  "CompleteMultipartUpload",
  "CopyObject",
  "CreateMultipartUpload",
  "DeleteObject",
  "DeleteObjects",
  "PutObject",
  "UploadPart",
  "UploadPartCopy",
];
const settingReads = everyVerb.filter(
  (verb) => /^Get(Bucket|ObjectLock)/.test(verb) && verb !== "GetBucketLocation",
);
const settingWrites = everyVerb.filter((verb) => /^(Put|Delete|Create)Bucket/.test(verb));

describe("requirePermission()", () => {
  it("permits everything to the credentials of the server", () => {
    expect(everyVerb.every((verb) => isPermitted(null, verb, { bucketName: "other" }))).toBe(true);
  });

  it.each([
    ["object-read-only", reads],
    ["object-read-write", [...reads, ...writes]],
    ["admin-read-only", [...reads, ...settingReads]],
    ["admin-read-write", [...reads, ...writes, ...settingReads, ...settingWrites]],
  ] as const)("permits with the scope %s its verbs, and no others", (scope, expected) => {
    expect(permitted(scope).toSorted()).toEqual([...expected].toSorted());
  });

  it("permits every verb but ListBuckets to someone", () => {
    expect(permitted("admin-read-write")).toHaveLength(everyVerb.length - 1);
  });

  it("permits only the actions, with the scope if there is one", () => {
    const actions = ["GetObject", "PutObject", "ListObjectsV1"];
    const allowed = (scope: Permissions["scope"]) =>
      everyVerb.filter((verb) => isPermitted({ ...whole, scope, actions }, verb)).toSorted();
    expect(allowed(undefined)).toEqual(["GetObject", "ListObjects", "PutObject"]);
    expect(allowed("object-read-only")).toEqual(["GetObject", "ListObjects"]);
    expect(everyVerb.some((verb) => isPermitted({ ...whole, actions: [] }, verb))).toBe(false);
  });

  it("permits no other bucket", () => {
    const admin = { ...whole, scope: "admin-read-write" } as const;
    expect(everyVerb.some((verb) => isPermitted(admin, verb, { bucketName: "other" }))).toBe(false);
  });

  it.each([
    ["GetObject", { key: "a/" }, true],
    ["GetObject", { key: "a" }, false],
    ["GetObject", { key: "b" }, true],
    ["GetObject", { key: "bc" }, false],
    ["PutObject", { key: "other" }, false],
    ["ListObjectsV2", { prefix: "a/" }, true],
    ["ListObjectsV2", { prefix: "a/b" }, true],
    ["ListObjectsV2", { prefix: "a" }, false],
    ["ListObjectsV2", { prefix: "b" }, false],
    ["ListObjectVersions", {}, false],
    // A key in the path does not stand for the prefix of the list.
    ["ListMultipartUploads", { key: "a/b" }, false],
    ["HeadBucket", {}, true],
    ["DeleteObjects", {}, true],
    ["PutBucketCors", {}, false],
    ["DeleteBucket", {}, false],
  ] as const)("permits within the paths: %s %j %s", (verb, asked, expected) => {
    const limited = { ...whole, scope: "admin-read-write", paths } as const;
    expect(isPermitted(limited, verb, asked)).toBe(expected);
  });
});

const permits = (permissions: Permissions | null, key: string, bucketName = "photos") => {
  try {
    requireKey(permissions, { bucketName, key });
    return true;
  } catch {
    return false;
  }
};

describe("requireKey()", () => {
  it("permits the keys of the paths in the bucket", () => {
    expect(permits(null, "k", "other")).toBe(true);
    expect(permits(whole, "k")).toBe(true);
    expect(permits(whole, "k", "other")).toBe(false);
    expect(permits({ ...whole, paths }, "a/k")).toBe(true);
    expect(permits({ ...whole, paths }, "k")).toBe(false);
    expect(permits({ ...whole, paths: { prefixPaths: [], objectPaths: [] } }, "k")).toBe(false);
  });
});
