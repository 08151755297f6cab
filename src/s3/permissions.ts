/**
 * What the holder of temporary credentials may do: the deployed service's scopes, actions and paths
 * (`session-token.ts` reads them). The credentials of the server itself permit everything.
 *
 * A token is bound to one bucket. `scope` is a set of operations, `actions` a list; with both, an
 * operation needs both. `paths` limits the objects: each key that a request names, also as the source of
 * a copy or in the body of DeleteObjects, has to be in it, and a list needs a prefix in it.
 */
import { S3Error } from "./s3-errors.ts";

export const scopes = [
  "object-read-only",
  "object-read-write",
  "admin-read-only",
  "admin-read-write",
] as const;

export interface Permissions {
  readonly bucketName: string;
  readonly scope: (typeof scopes)[number] | undefined;
  readonly actions: readonly string[] | undefined;
  /** Two empty lists permit no object. */
  readonly paths:
    | { readonly prefixPaths: readonly string[]; readonly objectPaths: readonly string[] }
    | undefined;
}

/** What a verb is about. DeleteObjects, whose keys are in the body, calls `requireKey` itself. */
type Subject = "object" | "list" | "bucket" | "settings";

// A verb that lacks here is an error of types where `answer.ts` passes the verb.
const verbTable = {
  // Refused, because the request names no bucket: the holder of a token does not see the others.
  ListBuckets: ["read", "bucket"],
  CreateBucket: ["write", "settings"],
  DeleteBucket: ["write", "settings"],
  HeadBucket: ["read", "bucket"],
  GetBucketLocation: ["read", "bucket"],
  GetBucketCors: ["read", "settings"],
  PutBucketCors: ["write", "settings"],
  DeleteBucketCors: ["write", "settings"],
  GetBucketLifecycle: ["read", "settings"],
  PutBucketLifecycle: ["write", "settings"],
  DeleteBucketLifecycle: ["write", "settings"],
  GetBucketEncryption: ["read", "settings"],
  GetBucketVersioning: ["read", "settings"],
  GetBucketTagging: ["read", "settings"],
  GetObjectLockConfiguration: ["read", "settings"],
  GetBucketReplication: ["read", "settings"],
  ListObjects: ["read", "list"],
  ListObjectsV2: ["read", "list"],
  ListObjectVersions: ["read", "list"],
  ListMultipartUploads: ["read", "list"],
  GetObject: ["read", "object"],
  HeadObject: ["read", "object"],
  GetObjectTagging: ["read", "object"],
  ListParts: ["read", "object"],
  PutObject: ["write", "object"],
  CopyObject: ["write", "object"],
  DeleteObject: ["write", "object"],
  DeleteObjects: ["write", "bucket"],
  CreateMultipartUpload: ["write", "object"],
  UploadPart: ["write", "object"],
  UploadPartCopy: ["write", "object"],
  CompleteMultipartUpload: ["write", "object"],
  AbortMultipartUpload: ["write", "object"],
} as const satisfies Record<string, readonly ["read" | "write", Subject]>;

/** The parts of a request that decide. */
interface Asked {
  readonly permissions: Permissions | null;
  readonly bucketName: string;
  readonly key: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** @throws S3Error AccessDenied */
export function requirePermission(
  verb: keyof typeof verbTable,
  { permissions, bucketName, key, parameters }: Asked,
): void {
  if (permissions === null) return;
  const { scope, actions, paths } = permissions;
  const [access, subject] = verbTable[verb];
  const isAdmin = subject === "settings";
  const isInScope =
    scope === undefined ||
    ((access === "read" || scope.endsWith("-write")) && (!isAdmin || scope.startsWith("admin-")));
  if (!isInScope) throw denied(`the scope ${scope} does not permit ${verb}`);
  // The only verb with another name in the deployed service's list of actions.
  const action = verb === "ListObjects" ? "ListObjectsV1" : verb;
  if (actions !== undefined && !actions.includes(action)) {
    throw denied(`the actions do not have ${action}`);
  }
  if (bucketName !== permissions.bucketName) throw otherBucket(permissions);
  if (paths === undefined) return;
  if (isAdmin) throw denied(`the paths do not permit ${verb}`);
  if (subject === "object") requireKey(permissions, { bucketName, key });
  const prefix = parameters.get("prefix") ?? "";
  if (subject === "list" && !paths.prefixPaths.some((path) => prefix.startsWith(path))) {
    throw denied("a list needs a prefix that begins with one of the prefix paths");
  }
}

/**
 * For keys that are neither in the path nor in the host.
 *
 * @throws S3Error AccessDenied
 */
export function requireKey(
  permissions: Permissions | null,
  { bucketName, key }: { readonly bucketName: string; readonly key: string },
): void {
  if (permissions === null) return;
  if (bucketName !== permissions.bucketName) throw otherBucket(permissions);
  const { paths } = permissions;
  const isPermitted =
    paths === undefined ||
    paths.objectPaths.includes(key) ||
    paths.prefixPaths.some((path) => key.startsWith(path));
  if (!isPermitted) throw denied("the paths do not have the key");
}

function otherBucket({ bucketName }: Permissions): S3Error {
  return denied(`the session token is for the bucket ${bucketName}`);
}

/** @param reason for the person who makes the tokens: an element of the error document */
function denied(reason: string): S3Error {
  return new S3Error("AccessDenied", undefined, { Reason: reason });
}
