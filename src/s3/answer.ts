/**
 * From a request to a response: the verb, its bucket, the CORS rules of the bucket, errors.
 *
 * A verb reads the body only after everything else has been checked, so that a refused request is refused
 * before its upload. The CORS rules of the bucket count for every response, also for that to a request with
 * a wrong signature: without them, a page cannot read why its request is refused.
 */
import { grantedHeaders } from "../store/core/cors.ts";
import { StoreError } from "../store/core/errors.ts";
import { ConnectionLostError } from "../store/core/fault.ts";
import type { Bucket } from "../store/node/bucket.ts";
import { requirePermission } from "./permissions.ts";
import { S3Error } from "./s3-errors.ts";
import { errorResponse, type S3Request, type S3Response, type S3Service } from "./s3-message.ts";
import { routeRequest } from "./route.ts";
import { verbs, type Verb } from "./s3-operations.ts";
import { accountVerbs } from "./verbs/bucket-verbs.ts";
import { preflightResponse, readCorsRules } from "./verbs/bucket-rules.ts";

/** A request of which only the target and the headers have been read. */
export interface UnverifiedRequest extends Pick<S3Request, "method" | "bucketName" | "headers"> {
  /** @throws S3Error, URIError for a request that its signature does not authorise */
  verify(): S3Request;
}

/**
 * A failure is a response.
 *
 * @param read reads what names the bucket
 * @throws ConnectionLostError when the client is to get no response
 */
export async function answerRequest(
  read: () => UnverifiedRequest,
  service: S3Service,
): Promise<S3Response> {
  let request: UnverifiedRequest;
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

async function execute(unverified: UnverifiedRequest, service: S3Service): Promise<S3Response> {
  const request = unverified.verify();
  if (request.method === "OPTIONS") {
    const bucket = await findBucket(request, service);
    if (bucket === null) throw new S3Error("NoSuchBucket");
    return preflightResponse(await readCorsRules(bucket, service), request.headers);
  }
  const { bucketName } = request;
  const verb = routeRequest(request, () => service.settingsOf(bucketName)?.compatibility === "aws");
  if (request.isAnonymous) requirePublic(verb, request, service);
  requirePermission(verb, request);
  if (verb === "CreateBucket" || verb === "ListBuckets")
    return accountVerbs[verb](request, service);
  const bucket =
    (await service.store.find(request.bucketName)) ?? (await createMissing(verb, request, service));
  return verbs[verb](request, bucket, service);
}

async function findBucket(
  { bucketName }: Pick<S3Request, "bucketName">,
  { store }: S3Service,
): Promise<Bucket | null> {
  return bucketName === "" ? null : store.find(bucketName);
}

/** An extension of the deployed service. */
async function createMissing(
  verb: Verb,
  request: S3Request,
  { store }: S3Service,
): Promise<Bucket> {
  const { bucketName, headers } = request;
  const mayCreate = verb === "PutObject" || verb === "CreateMultipartUpload";
  if (mayCreate && headers.get("cf-create-bucket-if-missing") === "true") {
    requirePermission("CreateBucket", request);
    await store.create(bucketName);
    const created = await store.find(bucketName);
    if (created !== null) return created;
  }
  throw new S3Error("NoSuchBucket");
}

/** A request without a signature may read the objects of a public bucket, and nothing else. */
function requirePublic(
  verb: Verb,
  { bucketName, parameters }: S3Request,
  { settingsOf }: S3Service,
): void {
  const isRead = verb === "GetObject" || verb === "HeadObject";
  if (!isRead || settingsOf(bucketName)?.public !== true) {
    throw new S3Error("InvalidArgument", "Authorization");
  }
  // Anyone could make a link to the object that has another type.
  if (Array.from(parameters.keys()).some((name) => name.startsWith("response-"))) {
    throw new S3Error(
      "InvalidRequest",
      "Request specific response headers cannot be used for anonymous GET requests.",
    );
  }
}

async function corsHeaders(
  request: UnverifiedRequest,
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
