import { emptyResponse, type S3Response } from "../s3-request.ts";
import { parseRequestDocument } from "../s3-error.ts";
import type { NamedBucketCall } from "./verb-call.ts";

/**
 * Makes a bucket. A bucket that exists is no error: clients create it before every upload.
 *
 * The location that a client asks for has no meaning here.
 */
export async function createBucket(call: NamedBucketCall): Promise<S3Response> {
  const { request, buckets, bucketName } = call;
  const document = await request.body.document();
  if (document !== "") parseRequestDocument(document, "CreateBucketConfiguration");
  await buckets.create(bucketName);
  return emptyResponse(200, { location: `/${bucketName}` });
}
