/**
 * From a request to a response: the verb, its bucket, the CORS rules of the bucket, errors.
 *
 * The signature has been verified before; the body has not been read. A verb reads the body only
 * after everything else has been checked, so that a refused request is refused before its upload.
 */
import { grantedHeaders } from "../store/core/cors.ts";
import { StoreError } from "../store/core/errors.ts";
import { ConnectionLostError } from "../store/core/fault.ts";
import type { Bucket } from "../store/node/bucket.ts";
import { S3Error } from "./s3-errors.ts";
import { errorResponse, type S3Request, type S3Response, type S3Service } from "./s3-message.ts";
import { routeRequest } from "./route.ts";
import { verbs, type Verb } from "./s3-operations.ts";
import { accountVerbs } from "./verbs/bucket-verbs.ts";
import { preflightResponse, readCorsRules } from "./verbs/bucket-rules.ts";

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
    const isOfClient =
      error instanceof S3Error || error instanceof StoreError || error instanceof URIError;
    if (!isOfClient) service.onError(error);
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
  if (verb === "CreateBucket" || verb === "ListBuckets")
    return accountVerbs[verb](request, service);
  const bucket =
    (await service.store.find(request.bucketName)) ?? (await createMissing(verb, request, service));
  return verbs[verb](request, bucket, service);
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
  if (mayCreate && headers.get("cf-create-bucket-if-missing") === "true") {
    await store.create(bucketName);
    const created = await store.find(bucketName);
    if (created !== null) return created;
  }
  throw new S3Error("NoSuchBucket");
}

/** A request without a signature may read the objects of a public bucket, and nothing else. */
function requirePublic(verb: Verb, { bucketName }: S3Request, { settingsOf }: S3Service): void {
  const isRead = verb === "GetObject" || verb === "HeadObject";
  if (!isRead || settingsOf(bucketName)?.public !== true) {
    throw new S3Error("InvalidArgument", "Authorization");
  }
}

async function corsHeaders(
  request: S3Request,
  origin: string,
  service: S3Service,
): Promise<S3Response["headers"]> {
  try {
    const bucket = await findBucket(request, service);
    if (bucket === null) return undefined;
    const { method } = request;
    return grantedHeaders(await readCorsRules(bucket, service), { origin, method });
  } catch {
    // The response is known; a page that may not read it loses less than the client does.
    return undefined;
  }
}
