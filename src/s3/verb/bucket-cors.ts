/** The CORS rules of a bucket: get, put, delete. */
import { parseCorsDocument, writeCorsDocument, type CorsRule } from "../cors-rules.ts";
import type { S3Bucket } from "../s3-bucket.ts";
import { S3Error } from "../s3-error.ts";
import { emptyResponse, xmlResponse, type S3Response } from "../s3-request.ts";
import type { BucketCall } from "./verb-call.ts";

/** The rules that a request has put, or else those of the configuration. */
export async function readCorsRules(bucket: S3Bucket): Promise<readonly CorsRule[]> {
  const { cors } = await bucket.call({ method: "getSettings" });
  return cors === undefined ? bucket.configuredCors : (JSON.parse(cors) as CorsRule[]);
}

export async function getBucketCors({ bucket }: BucketCall): Promise<S3Response> {
  const rules = await readCorsRules(bucket);
  if (rules.length === 0) throw new S3Error("NoSuchCORSConfiguration");
  return xmlResponse(writeCorsDocument(rules));
}

export async function putBucketCors({ request, bucket }: BucketCall): Promise<S3Response> {
  const rules = parseCorsDocument(await request.body.document());
  await bucket.call({ method: "putSettings", cors: JSON.stringify(rules) });
  return emptyResponse(200);
}

export async function deleteBucketCors({ bucket }: BucketCall): Promise<S3Response> {
  // An empty list, so that the rules of the configuration do not come back.
  const isConfigured = bucket.configuredCors.length > 0;
  await bucket.call({ method: "putSettings", cors: isConfigured ? "[]" : null });
  return emptyResponse(204);
}
