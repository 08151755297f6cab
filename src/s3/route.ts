/**
 * Which verb a request asks for. The deployed service decides by the method and by the presence of
 * parameters; operations that it knows and does not implement have their names in the answer.
 */
import { S3Error } from "./s3-error.ts";
import type { S3Request } from "./s3-request.ts";

export type AccountVerb = "ListBuckets";
export type NewBucketVerb = "CreateBucket";
export type BucketVerb =
  | "DeleteBucket"
  | "DeleteBucketCors"
  | "DeleteBucketLifecycle"
  | "DeleteObjects"
  | "GetBucketCors"
  | "GetBucketEncryption"
  | "GetBucketLifecycle"
  | "GetBucketLocation"
  | "GetBucketReplication"
  | "GetBucketTagging"
  | "GetBucketVersioning"
  | "GetObjectLockConfiguration"
  | "HeadBucket"
  | "ListMultipartUploads"
  | "ListObjects"
  | "ListObjectsV2"
  | "ListObjectVersions"
  | "PostObject"
  | "PutBucketCors"
  | "PutBucketLifecycle";
export type ObjectVerb =
  | "AbortMultipartUpload"
  | "CompleteMultipartUpload"
  | "CopyObject"
  | "CreateMultipartUpload"
  | "DeleteObject"
  | "GetObject"
  | "HeadObject"
  | "ListParts"
  | "PutObject"
  | "UploadPart"
  | "UploadPartCopy";
export type Verb = AccountVerb | NewBucketVerb | BucketVerb | ObjectVerb;

type RoutedRequest = Pick<S3Request, "method" | "bucketName" | "key" | "parameters" | "headers">;

/** @throws S3Error for an operation that does not exist or is not implemented */
export function routeRequest(request: RoutedRequest): Verb {
  if (request.bucketName === null) return routeAccount(request);
  return request.key === null ? routeBucket(request) : routeObject(request);
}

/** Parameters that may be in any request: those of a presigned URL, and the AWS SDK's name of the operation. */
function isGeneralParameter(name: string): boolean {
  return /^x-amz-/i.test(name) || name === "x-id";
}

const listBucketsParameters = new Set(["prefix", "max-buckets", "continuation-token"]);

function routeAccount({ method, parameters }: RoutedRequest): Verb {
  if (method !== "GET") throw new S3Error("RouteNotFound");
  refuseParameters(parameters.names, listBucketsParameters, "ListBuckets");
  return "ListBuckets";
}

type Subresources = Readonly<Record<string, Verb | { readonly refused: string }>>;

function refuse(
  ...names: readonly (readonly [parameter: string, operation: string])[]
): Subresources {
  return Object.fromEntries(names.map(([name, refused]) => [name, { refused }]));
}

const bucketGet: Subresources = {
  uploads: "ListMultipartUploads",
  location: "GetBucketLocation",
  encryption: "GetBucketEncryption",
  versioning: "GetBucketVersioning",
  tagging: "GetBucketTagging",
  "object-lock": "GetObjectLockConfiguration",
  replication: "GetBucketReplication",
  cors: "GetBucketCors",
  lifecycle: "GetBucketLifecycle",
  versions: "ListObjectVersions",
  ...refuse(
    ["accelerate", "GetBucketAccelerateConfiguration"],
    ["acl", "GetBucketAcl"],
    ["analytics", "GetBucketAnalyticsConfiguration"],
    ["intelligent-tiering", "GetBucketIntelligentTieringConfiguration"],
    ["inventory", "GetBucketInventoryConfiguration"],
    ["logging", "GetBucketLogging"],
    ["metrics", "GetBucketMetricsConfiguration"],
    ["notification", "GetBucketNotificationConfiguration"],
    ["ownershipControls", "GetBucketOwnershipControls"],
    ["policy", "GetBucketPolicy"],
    // The doubled word is the deployed service's.
    ["policyStatus", "GetGetBucketPolicyStatus"],
    ["publicAccessBlock", "GetPublicAccessBlock"],
    ["requestPayment", "GetBucketRequestPayment"],
    ["website", "GetBucketWebsite"],
  ),
};

const bucketPut: Subresources = {
  cors: "PutBucketCors",
  lifecycle: "PutBucketLifecycle",
  ...refuse(
    ["accelerate", "PutBucketAccelerateConfiguration"],
    ["acl", "PutBucketAcl"],
    ["analytics", "PutBucketAnalyticsConfiguration"],
    ["encryption", "PutBucketEncryption"],
    ["intelligent-tiering", "PutBucketIntelligentTieringConfiguration"],
    ["inventory", "PutBucketInventoryConfiguration"],
    ["logging", "PutBucketLogging"],
    ["metrics", "PutBucketMetricsConfiguration"],
    ["notification", "PutBucketNotificationConfiguration"],
    ["object-lock", "PutObjectLockConfiguration"],
    ["ownershipControls", "PutBucketOwnershipControls"],
    ["policy", "PutBucketPolicy"],
    ["publicAccessBlock", "PutPublicAccessBlock"],
    ["replication", "PutBucketReplication"],
    ["requestPayment", "PutBucketRequestPayment"],
    ["tagging", "PutBucketTagging"],
    ["versioning", "PutBucketVersioning"],
    ["website", "PutBucketWebsite"],
  ),
};

const bucketDelete: Subresources = {
  cors: "DeleteBucketCors",
  lifecycle: "DeleteBucketLifecycle",
  ...refuse(
    ["analytics", "DeleteBucketAnalyticsConfiguration"],
    ["encryption", "DeleteBucketEncryption"],
    ["intelligent-tiering", "DeleteBucketIntelligentTieringConfiguration"],
    ["inventory", "DeleteBucketInventoryConfiguration"],
    ["metrics", "DeleteBucketMetricsConfiguration"],
    ["ownershipControls", "DeleteBucketOwnershipControls"],
    ["policy", "DeleteBucketPolicy"],
    ["replication", "DeleteBucketReplication"],
    ["tagging", "DeleteBucketTagging"],
    ["website", "DeleteBucketWebsite"],
  ),
};

function routeBucket({ method, parameters, headers }: RoutedRequest): Verb {
  const { names } = parameters;
  switch (method) {
    case "HEAD":
      return "HeadBucket";
    case "GET":
      return (
        findSubresource(names, bucketGet) ?? routeList({ names, type: parameters.get("list-type") })
      );
    case "PUT":
      return routeMutation(names, bucketPut, "PUT", "CreateBucket");
    case "DELETE":
      return routeMutation(names, bucketDelete, "DELETE", "DeleteBucket");
    case "POST":
      if (parameters.has("delete")) return "DeleteObjects";
      // Deviation: the deployed service refuses forms, and answers 200 to a signed POST.
      if (isForm(headers)) return "PostObject";
      throw new S3Error(
        "PreconditionFailed",
        "Bucket POST must be of the enclosure-type multipart/form-data",
      );
    default:
      throw new S3Error("RouteNotFound");
  }
}

function isForm(headers: RoutedRequest["headers"]): boolean {
  return /^multipart\/form-data\b/i.test(headers.get("content-type") ?? "");
}

/** The first parameter that names a verb decides, wherever it stands. */
function findSubresource(names: readonly string[], subresources: Subresources): Verb | null {
  for (const name of names) {
    const found = Object.hasOwn(subresources, name) ? subresources[name] : undefined;
    if (typeof found === "string") return found;
    if (found !== undefined) throw notImplemented(found.refused);
  }
  return null;
}

function routeMutation(
  names: readonly string[],
  subresources: Subresources,
  method: string,
  bare: Verb,
): Verb {
  const found = findSubresource(names, subresources);
  if (found !== null) return found;
  const unknown = names.filter((name) => !isGeneralParameter(name)).map((name) => `"${name}"`);
  if (unknown.length === 0) return bare;
  throw new S3Error(
    "InvalidArgument",
    `Unsupported search param(s) ${unknown.join(", ")} on a ${method} bucket route`,
  );
}

const listParameters = new Set(["prefix", "delimiter", "marker", "max-keys", "encoding-type"]);
const listV2Parameters = new Set([
  "list-type",
  "prefix",
  "delimiter",
  "continuation-token",
  "start-after",
  "max-keys",
  "encoding-type",
  "fetch-owner",
]);

function routeList({ names, type }: { names: readonly string[]; type: string | null }): Verb {
  if (type === "2") {
    refuseParameters(names, listV2Parameters, "ListObjectsV2");
    return "ListObjectsV2";
  }
  if (type !== null) throw notImplemented(`ListObjectsV${type}`);
  if (names.includes("continuation-token")) {
    throw new S3Error("InvalidArgument", "continuation-token not supported in ListObjects");
  }
  refuseParameters(names, listParameters, "ListObjectsV1");
  return "ListObjects";
}

function refuseParameters(
  names: readonly string[],
  known: ReadonlySet<string>,
  verb: string,
): void {
  const unknown = names.find((name) => !known.has(name) && !isGeneralParameter(name));
  if (unknown !== undefined) throw notImplemented(`${verb} search parameter ${unknown}`);
}

const objectGet = refuse(
  ["acl", "GetObjectAcl"],
  ["attributes", "GetObjectAttributes"],
  ["legal-hold", "GetObjectLegalHold"],
  ["retention", "GetObjectRetention"],
  ["tagging", "GetObjectTagging"],
  ["torrent", "GetObjectTorrent"],
);
const objectPut = refuse(
  ["acl", "PutObjectAcl"],
  ["legal-hold", "PutObjectLegalHold"],
  ["retention", "PutObjectRetention"],
  ["tagging", "PutObjectTagging"],
);
const objectPost = refuse(["restore", "RestoreObject"], ["select", "SelectObjectContent"]);

function routeObject(request: RoutedRequest): Verb {
  const { method, parameters, headers } = request;
  const { names } = parameters;
  const hasUpload = parameters.has("uploadId");
  const isCopy = headers.get("x-amz-copy-source") !== null;
  const partNumber = parameters.get("partNumber");
  // The routes of the deployed service accept text that looks like an integer; the verb checks it.
  if (hasUpload && partNumber !== null && !/^ *-?\d*$/.test(partNumber)) {
    throw new S3Error("RouteNotFound");
  }
  switch (method) {
    case "HEAD":
      return "HeadObject";
    case "GET":
      if (hasUpload) return "ListParts";
      if (parameters.has("uploads")) return "ListMultipartUploads";
      return findSubresource(names, objectGet) ?? "GetObject";
    case "PUT":
      // With an upload and without a number, the deployed service stores an object.
      if (hasUpload && partNumber !== null) return isCopy ? "UploadPartCopy" : "UploadPart";
      return findSubresource(names, objectPut) ?? (isCopy ? "CopyObject" : "PutObject");
    case "POST":
      if (hasUpload) return "CompleteMultipartUpload";
      if (parameters.has("uploads")) return "CreateMultipartUpload";
      // The deployed service stores the body of any other POST as an object.
      return findSubresource(names, objectPost) ?? "PutObject";
    case "DELETE":
      return hasUpload ? "AbortMultipartUpload" : "DeleteObject";
    default:
      throw new S3Error("RouteNotFound");
  }
}

function notImplemented(name: string): S3Error {
  return new S3Error("NotImplemented", `${name} not implemented`);
}
