/**
 * What a request is about, and which verb it asks for.
 *
 *     path style           http://localhost:8789/photos/a.jpg     bucket photos, key a.jpg
 *     virtual-host style   http://photos.localhost:8789/a.jpg     the same
 *
 * The text of a request is taken as it is: a URL would collapse `.` and `..`, which belong to keys. The
 * deployed service decides about the verb by the method and by the presence of parameters; operations
 * that it knows and does not implement have their names in the answer.
 */
import { hostName } from "../base/host-rule.ts";
import { parseQuery } from "../http/uri.ts";
import { S3Error } from "./s3-errors.ts";
import { isGeneralParameter, type S3Request } from "./s3-message.ts";
import { bucketRuleVerbs } from "./verbs/bucket-rules.ts";
import { bucketVerbs, type accountVerbs } from "./verbs/bucket-verbs.ts";
import { listVerbs } from "./verbs/list-verbs.ts";
import { multipartVerbs } from "./verbs/multipart-verbs.ts";
import { objectVerbs } from "./verbs/object-verbs.ts";

interface RequestTarget extends Pick<S3Request, "bucketName" | "key" | "bucketUrl"> {
  /** As the client has sent it. */
  readonly path: string;
  /** Without the question mark, as the client has sent it. */
  readonly query: string;
}

/**
 * @param target the request target of HTTP: a path with a query, or a whole URL
 * @param hosts the configured hosts. The name before such a host, or before `localhost`, is a bucket
 * @throws URIError for a bucket or a key that is not UTF-8 in percent-encoding
 */
export function parseTarget(target: string, host: string, hosts: readonly string[]): RequestTarget {
  // A client that takes the server for a proxy sends the whole URL.
  const local = target
    .replace(/^http:\/\/[^/?]*/i, "")
    // Octets beyond ASCII, which Node passes on as characters, in percent-encoding.
    .replace(/[\u0080-\u00ff]/g, (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase()}`);
  const end = local.indexOf("?");
  const path = end === -1 ? local : local.slice(0, end);
  const query = end === -1 ? "" : local.slice(end + 1);
  const rest = path.replace(/^\//, "");
  const virtualBucket = bucketOfHost(host, hosts);
  if (virtualBucket !== null) {
    const key = decodeURIComponent(rest);
    return { bucketName: virtualBucket, key, path, query, bucketUrl: `http://${host}` };
  }
  const [bucketText = ""] = rest.split("/", 1);
  return {
    bucketName: decodeURIComponent(bucketText),
    key: decodeURIComponent(rest.slice(bucketText.length + 1)),
    path,
    query,
    bucketUrl: `http://${host}/${bucketText}`,
  };
}

/** The part of a host before a host of this server; `null` for the host itself. */
export function bucketOfHost(host: string, hosts: readonly string[]): string | null {
  const name = hostName(host) ?? "";
  if (hosts.includes(name)) return null;
  const base = [...hosts, "localhost"].find((each) => name.endsWith(`.${each}`));
  return base === undefined ? null : name.slice(0, -base.length - 1);
}

/** @throws URIError */
export function parseParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  if (query === "") return parameters;
  for (const [name, value] of parseQuery(query)) {
    if (!parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}

/** Verbs about a bucket that exists, or about an object in it. */
export const verbs = {
  ...bucketRuleVerbs,
  ...bucketVerbs,
  ...listVerbs,
  ...multipartVerbs,
  ...objectVerbs,
};

export type Verb = keyof typeof accountVerbs | keyof typeof verbs;

type RoutedRequest = Pick<S3Request, "method" | "bucketName" | "key" | "parameters" | "headers">;

/** @throws S3Error for an operation that does not exist or is not implemented */
export function routeRequest(request: RoutedRequest): Verb {
  if (request.bucketName !== "") {
    return request.key === "" ? routeBucket(request) : routeObject(request);
  }
  if (request.method !== "GET") throw new S3Error("RouteNotFound");
  refuseParameters(request, ["prefix", "max-buckets", "continuation-token"], "ListBuckets");
  return "ListBuckets";
}

/** Operations that are not implemented: the parameter, the methods, and the name after the method. */
type RefusedOperation = readonly [parameter: string, methods: string, name: string];

const bucketRoutes = routeTable(
  {
    "DELETE cors": "DeleteBucketCors",
    "DELETE lifecycle": "DeleteBucketLifecycle",
    "GET cors": "GetBucketCors",
    "GET encryption": "GetBucketEncryption",
    "GET lifecycle": "GetBucketLifecycle",
    "GET location": "GetBucketLocation",
    "GET object-lock": "GetObjectLockConfiguration",
    "GET replication": "GetBucketReplication",
    "GET tagging": "GetBucketTagging",
    "GET uploads": "ListMultipartUploads",
    "GET versioning": "GetBucketVersioning",
    "GET versions": "ListObjectVersions",
    "PUT cors": "PutBucketCors",
    "PUT lifecycle": "PutBucketLifecycle",
  },
  [
    ["accelerate", "Get Put", "BucketAccelerateConfiguration"],
    ["acl", "Get Put", "BucketAcl"],
    ["analytics", "Get Put Delete", "BucketAnalyticsConfiguration"],
    ["encryption", "Put Delete", "BucketEncryption"],
    ["intelligent-tiering", "Get Put Delete", "BucketIntelligentTieringConfiguration"],
    ["inventory", "Get Put Delete", "BucketInventoryConfiguration"],
    ["logging", "Get Put", "BucketLogging"],
    ["metrics", "Get Put Delete", "BucketMetricsConfiguration"],
    ["notification", "Get Put", "BucketNotificationConfiguration"],
    ["object-lock", "Put", "ObjectLockConfiguration"],
    ["ownershipControls", "Get Put Delete", "BucketOwnershipControls"],
    ["policy", "Get Put Delete", "BucketPolicy"],
    // The deployed service doubles the word Get.
    ["policyStatus", "Get", "GetBucketPolicyStatus"],
    ["publicAccessBlock", "Get Put", "PublicAccessBlock"],
    ["replication", "Put Delete", "BucketReplication"],
    ["requestPayment", "Get Put", "BucketRequestPayment"],
    ["tagging", "Put Delete", "BucketTagging"],
    ["versioning", "Put", "BucketVersioning"],
    ["website", "Get Put Delete", "BucketWebsite"],
  ],
);

const objectRoutes = routeTable({}, [
  ["acl", "Get Put", "ObjectAcl"],
  ["attributes", "Get", "ObjectAttributes"],
  ["legal-hold", "Get Put", "ObjectLegalHold"],
  ["retention", "Get Put", "ObjectRetention"],
  ["tagging", "Get Put", "ObjectTagging"],
  ["torrent", "Get", "ObjectTorrent"],
])
  .set("POST restore", { refused: "RestoreObject" })
  .set("POST select", { refused: "SelectObjectContent" });

function routeTable(
  served: Readonly<Record<string, Verb>>,
  refused: readonly RefusedOperation[],
): Map<string, Verb | { readonly refused: string }> {
  const routes = new Map<string, Verb | { readonly refused: string }>(Object.entries(served));
  for (const [parameter, methods, name] of refused) {
    for (const method of methods.split(" ")) {
      routes.set(`${method.toUpperCase()} ${parameter}`, { refused: method + name });
    }
  }
  return routes;
}

/** The first parameter that names a verb decides, wherever it stands. */
function findRoute(
  { method, parameters }: RoutedRequest,
  routes: typeof bucketRoutes,
): Verb | null {
  for (const name of parameters.keys()) {
    const found = routes.get(`${method} ${name}`);
    if (typeof found === "string") return found;
    if (found !== undefined) throw notImplemented(found.refused);
  }
  return null;
}

function routeBucket(request: RoutedRequest): Verb {
  const { method, parameters, headers } = request;
  switch (method) {
    case "HEAD":
      return "HeadBucket";
    case "GET":
      return findRoute(request, bucketRoutes) ?? routeList(request);
    case "PUT":
      return findRoute(request, bucketRoutes) ?? routeBareBucket(request, "CreateBucket");
    case "DELETE":
      return findRoute(request, bucketRoutes) ?? routeBareBucket(request, "DeleteBucket");
    case "POST":
      if (parameters.has("delete")) return "DeleteObjects";
      if (/^multipart\/form-data\b/i.test(headers.get("content-type") ?? "")) {
        throw notImplemented("PostObject");
      }
      // Deviation: the deployed service answers 200 to a signed POST.
      throw new S3Error(
        "PreconditionFailed",
        "Bucket POST must be of the enclosure-type multipart/form-data",
      );
    default:
      throw new S3Error("RouteNotFound");
  }
}

function routeBareBucket({ method, parameters }: RoutedRequest, verb: Verb): Verb {
  const unknown = Array.from(parameters.keys()).filter((name) => !isGeneralParameter(name));
  if (unknown.length === 0) return verb;
  throw new S3Error(
    "InvalidArgument",
    `Unsupported search param(s) "${unknown.join('", "')}" on a ${method} bucket route`,
  );
}

const listParameters = ["prefix", "delimiter", "max-keys", "encoding-type"];

function routeList(request: RoutedRequest): Verb {
  const { parameters } = request;
  const type = parameters.get("list-type");
  if (type === "2") {
    const own = ["list-type", "continuation-token", "start-after", "fetch-owner"];
    refuseParameters(request, [...listParameters, ...own], "ListObjectsV2");
    return "ListObjectsV2";
  }
  if (type !== undefined) throw notImplemented(`ListObjectsV${type}`);
  if (parameters.has("continuation-token")) {
    throw new S3Error("InvalidArgument", "continuation-token not supported in ListObjects");
  }
  refuseParameters(request, [...listParameters, "marker"], "ListObjectsV1");
  return "ListObjects";
}

function routeObject(request: RoutedRequest): Verb {
  const { method, parameters, headers } = request;
  const hasUpload = parameters.has("uploadId");
  const isCopy = headers.has("x-amz-copy-source");
  const partNumber = parameters.get("partNumber");
  // The routes of the deployed service accept text that looks like an integer; the verb checks it.
  if (hasUpload && partNumber !== undefined && !/^ *-?\d*$/.test(partNumber)) {
    throw new S3Error("RouteNotFound");
  }
  switch (method) {
    case "HEAD":
      return "HeadObject";
    case "GET":
      if (hasUpload) return "ListParts";
      if (parameters.has("uploads")) return "ListMultipartUploads";
      return findRoute(request, objectRoutes) ?? "GetObject";
    case "PUT":
      // With an upload and without a number, the deployed service stores an object.
      if (hasUpload && partNumber !== undefined) return isCopy ? "UploadPartCopy" : "UploadPart";
      return findRoute(request, objectRoutes) ?? (isCopy ? "CopyObject" : "PutObject");
    case "POST":
      if (hasUpload) return "CompleteMultipartUpload";
      if (parameters.has("uploads")) return "CreateMultipartUpload";
      // The deployed service stores the body of any other POST as an object.
      return findRoute(request, objectRoutes) ?? "PutObject";
    case "DELETE":
      return hasUpload ? "AbortMultipartUpload" : "DeleteObject";
    default:
      throw new S3Error("RouteNotFound");
  }
}

function refuseParameters(
  { parameters }: RoutedRequest,
  known: readonly string[],
  verb: string,
): void {
  const unknown = Array.from(parameters.keys()).find(
    (name) => !known.includes(name) && !isGeneralParameter(name),
  );
  if (unknown !== undefined) throw notImplemented(`${verb} search parameter ${unknown}`);
}

function notImplemented(name: string): S3Error {
  return new S3Error("NotImplemented", `${name} not implemented`);
}
