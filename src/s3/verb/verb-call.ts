/** What a verb is called with. */
import type { FormFields } from "../form-fields.ts";
import type { S3Bucket, S3Buckets } from "../s3-bucket.ts";
import { S3Error } from "../s3-error.ts";
import type { S3Request, S3Response } from "../s3-request.ts";

export interface AccountCall {
  readonly request: S3Request;
  readonly buckets: S3Buckets;
  /** Milliseconds since the epoch */
  readonly now: () => number;
  /** @throws S3Error for a form that the credentials have not signed */
  readonly verifyForm: (fields: FormFields) => void;
}

/** A call about a bucket that may not exist. */
export interface NamedBucketCall extends AccountCall {
  readonly bucketName: string;
}

export interface BucketCall extends NamedBucketCall {
  readonly bucket: S3Bucket;
}

export interface ObjectCall extends BucketCall {
  readonly key: string;
}

export type VerbFunction<Call> = (call: Call) => Promise<S3Response>;

/** The owner of every bucket and of every object: there is one user. */
export const owner = { ID: "ledge", DisplayName: "ledge" } as const;

/** The upload that the query names. Routes pass a call on only if there is one. */
export function uploadOf({ key, request }: ObjectCall): { key: string; uploadId: string } {
  return { key, uploadId: request.parameters.get("uploadId") as string };
}

/** Objects have one version, whose id is `null` (as in a bucket of AWS without versions). */
export function requireOnlyVersion(versionId: string | null): void {
  if (versionId !== null && versionId !== "null") throw new S3Error("NoSuchVersion");
}
