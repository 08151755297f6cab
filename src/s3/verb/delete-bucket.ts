import { emptyResponse, type S3Response } from "../s3-request.ts";
import type { BucketCall } from "./verb-call.ts";

export async function deleteBucket({ buckets, bucketName }: BucketCall): Promise<S3Response> {
  await buckets.delete(bucketName);
  return emptyResponse(204);
}
