import { emptyResponse, type S3Response } from "../s3-request.ts";

/** A call has a bucket only if the bucket exists. */
export async function headBucket(): Promise<S3Response> {
  return emptyResponse(200, { "x-amz-bucket-region": "auto" });
}
