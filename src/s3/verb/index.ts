/** All verbs, by what they are about. */
import type { AccountVerb, BucketVerb, NewBucketVerb, ObjectVerb, Verb } from "../route.ts";
import { abortMultipartUpload } from "./abort-multipart-upload.ts";
import {
  getBucketReplication,
  getBucketTagging,
  getObjectLockConfiguration,
} from "./absent-settings.ts";
import { deleteBucketCors, getBucketCors, putBucketCors } from "./bucket-cors.ts";
import {
  deleteBucketLifecycle,
  getBucketLifecycle,
  putBucketLifecycle,
} from "./bucket-lifecycle.ts";
import { completeMultipartUpload } from "./complete-multipart-upload.ts";
import { copyObject } from "./copy-object.ts";
import { createBucket } from "./create-bucket.ts";
import { createMultipartUpload } from "./create-multipart-upload.ts";
import { deleteBucket } from "./delete-bucket.ts";
import { deleteObject } from "./delete-object.ts";
import { deleteObjects } from "./delete-objects.ts";
import { getBucketEncryption } from "./get-bucket-encryption.ts";
import { getBucketLocation } from "./get-bucket-location.ts";
import { getBucketVersioning } from "./get-bucket-versioning.ts";
import { getObject } from "./get-object.ts";
import { headBucket } from "./head-bucket.ts";
import { headObject } from "./head-object.ts";
import { listBuckets } from "./list-buckets.ts";
import { listMultipartUploads } from "./list-multipart-uploads.ts";
import { listObjects, listObjectsV2, listObjectVersions } from "./list-objects.ts";
import { listParts } from "./list-parts.ts";
import { postObject } from "./post-object.ts";
import { putObject } from "./put-object.ts";
import { uploadPart } from "./upload-part.ts";
import { uploadPartCopy } from "./upload-part-copy.ts";
import type {
  AccountCall,
  BucketCall,
  NamedBucketCall,
  ObjectCall,
  VerbFunction,
} from "./verb-call.ts";

export const accountVerbs: Record<AccountVerb, VerbFunction<AccountCall>> = {
  ListBuckets: listBuckets,
};

export const newBucketVerbs: Record<NewBucketVerb, VerbFunction<NamedBucketCall>> = {
  CreateBucket: createBucket,
};

export const bucketVerbs: Record<BucketVerb, VerbFunction<BucketCall>> = {
  DeleteBucket: deleteBucket,
  DeleteBucketCors: deleteBucketCors,
  DeleteBucketLifecycle: deleteBucketLifecycle,
  DeleteObjects: deleteObjects,
  GetBucketCors: getBucketCors,
  GetBucketEncryption: getBucketEncryption,
  GetBucketLifecycle: getBucketLifecycle,
  GetBucketLocation: getBucketLocation,
  GetBucketReplication: getBucketReplication,
  GetBucketTagging: getBucketTagging,
  GetBucketVersioning: getBucketVersioning,
  GetObjectLockConfiguration: getObjectLockConfiguration,
  HeadBucket: headBucket,
  ListMultipartUploads: listMultipartUploads,
  ListObjects: listObjects,
  ListObjectsV2: listObjectsV2,
  ListObjectVersions: listObjectVersions,
  PostObject: postObject,
  PutBucketCors: putBucketCors,
  PutBucketLifecycle: putBucketLifecycle,
};

export const objectVerbs: Record<ObjectVerb, VerbFunction<ObjectCall>> = {
  AbortMultipartUpload: abortMultipartUpload,
  CompleteMultipartUpload: completeMultipartUpload,
  CopyObject: copyObject,
  CreateMultipartUpload: createMultipartUpload,
  DeleteObject: deleteObject,
  GetObject: getObject,
  HeadObject: headObject,
  ListParts: listParts,
  PutObject: putObject,
  UploadPart: uploadPart,
  UploadPartCopy: uploadPartCopy,
};

export function isOneOf<Name extends Verb>(verbs: Record<Name, unknown>, verb: Verb): verb is Name {
  return Object.hasOwn(verbs, verb);
}
