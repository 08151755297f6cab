/**
 * From a request to a response: the verb, its bucket, the CORS rules of the bucket, errors.
 *
 * The signature has been verified before; the body has not been read. A verb reads the body only
 * after everything else has been checked, so that a refused request is refused before its upload.
 */
import { ConnectionLostError } from "../store/core/fault.ts";
import type { Bucket } from "../store/node/bucket.ts";
import { S3Error } from "./s3-errors.ts";
import {
  errorResponse,
  isExpected,
  type BucketVerbFunction,
  type S3Request,
  type S3Response,
  type S3Service,
} from "./s3-message.ts";
import { screenHeaders } from "./object-headers.ts";
import { routeRequest, type BucketVerb, type Verb } from "./route.ts";
import {
  deleteBucketCors,
  deleteBucketLifecycle,
  getBucketCors,
  getBucketLifecycle,
  grantedHeaders,
  preflightResponse,
  putBucketCors,
  putBucketLifecycle,
  readCorsRules,
} from "./verbs/bucket-rules.ts";
import {
  createBucket,
  deleteBucket,
  getBucketEncryption,
  getBucketLocation,
  getBucketReplication,
  getBucketTagging,
  getBucketVersioning,
  getObjectLockConfiguration,
  headBucket,
  listBuckets,
} from "./verbs/bucket-verbs.ts";
import { copyObject, uploadPartCopy } from "./verbs/copy-verbs.ts";
import { listObjects, listObjectsV2, listObjectVersions } from "./verbs/list-verbs.ts";
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listMultipartUploads,
  listParts,
  uploadPart,
} from "./verbs/multipart-verbs.ts";
import {
  deleteObject,
  deleteObjects,
  getObject,
  headObject,
  putObject,
} from "./verbs/object-verbs.ts";

/** Verbs that need no bucket. */
export const accountVerbs = { CreateBucket: createBucket, ListBuckets: listBuckets };

export const bucketVerbs: Readonly<Record<BucketVerb, BucketVerbFunction>> = {
  AbortMultipartUpload: abortMultipartUpload,
  CompleteMultipartUpload: completeMultipartUpload,
  CopyObject: copyObject,
  CreateMultipartUpload: createMultipartUpload,
  DeleteBucket: deleteBucket,
  DeleteBucketCors: deleteBucketCors,
  DeleteBucketLifecycle: deleteBucketLifecycle,
  DeleteObject: deleteObject,
  DeleteObjects: deleteObjects,
  GetBucketCors: getBucketCors,
  GetBucketEncryption: getBucketEncryption,
  GetBucketLifecycle: getBucketLifecycle,
  GetBucketLocation: getBucketLocation,
  GetBucketReplication: getBucketReplication,
  GetBucketTagging: getBucketTagging,
  GetBucketVersioning: getBucketVersioning,
  GetObject: getObject,
  GetObjectLockConfiguration: getObjectLockConfiguration,
  HeadBucket: headBucket,
  HeadObject: headObject,
  ListMultipartUploads: listMultipartUploads,
  ListObjects: listObjects,
  ListObjectsV2: listObjectsV2,
  ListObjectVersions: listObjectVersions,
  ListParts: listParts,
  PutBucketCors: putBucketCors,
  PutBucketLifecycle: putBucketLifecycle,
  PutObject: putObject,
  UploadPart: uploadPart,
  UploadPartCopy: uploadPartCopy,
};

/**
 * A failure is a response.
 *
 * @param read reads and verifies the request
 * @throws ConnectionLostError when the client is to get no response
 */
export async function answerRequest(
  read: () => S3Request,
  service: S3Service,
): Promise<S3Response> {
  let request: S3Request;
  try {
    request = read();
  } catch (error) {
    return errorResponse(error);
  }
  const response = await execute(request, service).catch((error: unknown) => {
    if (error instanceof ConnectionLostError) throw error;
    if (!isExpected(error)) service.onError(error);
    return errorResponse(error);
  });
  const origin = request.headers.get("origin");
  if (origin === undefined || request.method === "OPTIONS") return response;
  const headers = await corsHeaders(request, origin, service);
  return { ...response, headers: { ...response.headers, ...headers } };
}

async function execute(request: S3Request, service: S3Service): Promise<S3Response> {
  if (request.method === "OPTIONS") {
    const bucket = await findBucket(request, service);
    if (bucket === null) throw new S3Error("NoSuchBucket");
    return preflightResponse(await readCorsRules(bucket, service), request.headers);
  }
  const verb = routeRequest(request);
  if (request.isAnonymous) requirePublic(verb, request, service);
  screenHeaders(verb, request.headers);
  if (verb === "CreateBucket" || verb === "ListBuckets")
    return accountVerbs[verb](request, service);
  const bucket =
    (await findBucket(request, service)) ?? (await createMissing(verb, request, service));
  return bucketVerbs[verb](request, bucket, service);
}

async function findBucket({ bucketName }: S3Request, { store }: S3Service): Promise<Bucket | null> {
  return bucketName === "" ? null : store.find(bucketName);
}

/** An extension of the deployed service. */
async function createMissing(
  verb: Verb,
  { bucketName, headers }: S3Request,
  { store }: S3Service,
): Promise<Bucket> {
  const mayCreate = verb === "PutObject" || verb === "CreateMultipartUpload";
  if (!mayCreate || headers.get("cf-create-bucket-if-missing") !== "true") {
    throw new S3Error("NoSuchBucket");
  }
  await store.create(bucketName);
  const created = await store.find(bucketName);
  if (created === null) throw new S3Error("NoSuchBucket");
  return created;
}

/** A request without a signature may read the objects of a public bucket, and nothing else. */
function requirePublic(verb: Verb, { bucketName }: S3Request, { settingsOf }: S3Service): void {
  const isRead = verb === "GetObject" || verb === "HeadObject";
  if (!isRead || !settingsOf(bucketName).isPublic) {
    throw new S3Error("InvalidArgument", "Authorization");
  }
}

/** The headers of a response to a page; none when no rule allows the request. */
async function corsHeaders(
  request: S3Request,
  origin: string,
  service: S3Service,
): Promise<Record<string, string>> {
  try {
    const bucket = await findBucket(request, service);
    if (bucket === null) return {};
    const { method } = request;
    return grantedHeaders(await readCorsRules(bucket, service), { origin, method });
  } catch {
    // The response is known; a page that may not read it loses less than the client does.
    return {};
  }
}
