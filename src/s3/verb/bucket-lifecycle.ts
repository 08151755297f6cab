/** The lifecycle rules of a bucket: get, put, delete. */
import { parseLifecycleDocument } from "../lifecycle-rules.ts";
import { S3Error } from "../s3-error.ts";
import { emptyResponse, xmlResponse, type S3Response } from "../s3-request.ts";
import type { BucketCall } from "./verb-call.ts";

export async function getBucketLifecycle({ bucket }: BucketCall): Promise<S3Response> {
  const { lifecycle } = await bucket.call({ method: "getSettings" });
  if (lifecycle === undefined) throw new S3Error("NoSuchLifecycleConfiguration");
  return xmlResponse(lifecycle.text);
}

export async function putBucketLifecycle({ request, bucket }: BucketCall): Promise<S3Response> {
  const lifecycle = parseLifecycleDocument(await request.body.document());
  await bucket.call({ method: "putSettings", lifecycle });
  return emptyResponse(200);
}

export async function deleteBucketLifecycle({ bucket }: BucketCall): Promise<S3Response> {
  await bucket.call({ method: "putSettings", lifecycle: null });
  return emptyResponse(204);
}
