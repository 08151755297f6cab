/** Settings that no bucket has, and whose absence clients ask for. */
import { S3Error } from "../s3-error.ts";
import type { S3Response } from "../s3-request.ts";

export async function getBucketTagging(): Promise<S3Response> {
  throw new S3Error("NoSuchTagSet");
}

export async function getObjectLockConfiguration(): Promise<S3Response> {
  throw new S3Error("ObjectLockConfigurationNotFoundError");
}

export async function getBucketReplication(): Promise<S3Response> {
  throw new S3Error("ReplicationConfigurationNotFoundError");
}
