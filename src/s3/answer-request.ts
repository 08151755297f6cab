/**
 * From a request to a response: the verb, its bucket, the CORS rules of the bucket, errors.
 *
 * The signature has been verified before; the body has not been read. A verb reads the body only
 * after everything else has been checked, so that a refused request is refused before its upload.
 */
import { ConnectionLostError } from "../store/core/fault.ts";
import type { FormFields } from "./form-fields.ts";
import { preflightResponse, corsResponseHeaders } from "./cors-rules.ts";
import { routeRequest, type Verb } from "./route.ts";
import type { S3Bucket, S3Buckets } from "./s3-bucket.ts";
import { errorResponse, isExpected, S3Error } from "./s3-error.ts";
import type { S3Request, S3Response } from "./s3-request.ts";
import { screenHeaders } from "./screened-headers.ts";
import { readCorsRules } from "./verb/bucket-cors.ts";
import { accountVerbs, bucketVerbs, isOneOf, newBucketVerbs, objectVerbs } from "./verb/index.ts";
import type { AccountCall } from "./verb/verb-call.ts";

export interface S3Service {
  readonly buckets: S3Buckets;
  /** Milliseconds since the epoch */
  readonly now: () => number;
  /** @throws S3Error for a form that the credentials have not signed */
  readonly verifyForm: (fields: FormFields) => void;
  /** Called with errors that no client has caused. The client gets an internal error. */
  readonly onError?: (error: unknown) => void;
}

/**
 * A failure is a response.
 *
 * @throws ConnectionLostError when the client is to get no response
 */
export async function answerRequest(request: S3Request, service: S3Service): Promise<S3Response> {
  const response = await execute(request, service).catch((error: unknown) => {
    if (error instanceof ConnectionLostError) throw error;
    if (!isExpected(error)) service.onError?.(error);
    return errorResponse(error);
  });
  const headers = await corsHeadersOf(request, service);
  return { ...response, headers: { ...response.headers, ...headers } };
}

async function execute(request: S3Request, service: S3Service): Promise<S3Response> {
  const { bucketName } = request;
  const { buckets, now, verifyForm } = service;
  if (request.method === "OPTIONS") return answerPreflight(request, buckets);
  const verb = routeRequest(request);
  if (request.isAnonymous) await requirePublic(verb, bucketName, buckets);
  screenHeaders(verb, request.headers);
  const call: AccountCall = { request, buckets, now, verifyForm };
  if (isOneOf(accountVerbs, verb)) return accountVerbs[verb](call);
  // A route other than that of an account has a bucket.
  const named = { ...call, bucketName: bucketName as string };
  if (isOneOf(newBucketVerbs, verb)) return newBucketVerbs[verb](named);
  const bucket = await findBucket(request, buckets, verb);
  if (isOneOf(bucketVerbs, verb)) return bucketVerbs[verb]({ ...named, bucket });
  return objectVerbs[verb]({ ...named, bucket, key: request.key as string });
}

async function findBucket(request: S3Request, buckets: S3Buckets, verb: Verb): Promise<S3Bucket> {
  const name = request.bucketName as string;
  const found = await buckets.find(name);
  if (found !== null) return found;
  // An extension of the deployed service.
  const mayCreate = verb === "PutObject" || verb === "CreateMultipartUpload";
  if (!mayCreate || request.headers.get("cf-create-bucket-if-missing") !== "true") {
    throw new S3Error("NoSuchBucket");
  }
  await buckets.create(name);
  const created = await buckets.find(name);
  if (created === null) throw new S3Error("NoSuchBucket");
  return created;
}

/**
 * A request without a signature may read the objects of a public bucket, and nothing else. A form
 * has its signature in its fields.
 */
async function requirePublic(
  verb: Verb,
  bucketName: string | null,
  buckets: S3Buckets,
): Promise<void> {
  if (verb === "PostObject") return;
  const isRead = verb === "GetObject" || verb === "HeadObject";
  const bucket = isRead && bucketName !== null ? await buckets.find(bucketName) : null;
  if (bucket?.isPublic !== true) throw new S3Error("InvalidArgument", "Authorization");
}

/** A browser asks without a signature. */
async function answerPreflight(
  { bucketName, headers }: S3Request,
  buckets: S3Buckets,
): Promise<S3Response> {
  const bucket = bucketName === null ? null : await buckets.find(bucketName);
  if (bucket === null) throw new S3Error("NoSuchBucket");
  return preflightResponse(await readCorsRules(bucket), headers);
}

async function corsHeadersOf(
  { method, bucketName, headers }: S3Request,
  { buckets }: S3Service,
): Promise<Record<string, string>> {
  const origin = headers.get("origin");
  if (origin === null || bucketName === null || method === "OPTIONS") return {};
  try {
    const bucket = await buckets.find(bucketName);
    return bucket === null
      ? {}
      : corsResponseHeaders(await readCorsRules(bucket), { origin, method });
  } catch {
    // The response is known; a page that may not read it loses less than the client does.
    return {};
  }
}
