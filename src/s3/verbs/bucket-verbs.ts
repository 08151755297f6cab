/** Verbs about buckets, and settings that are the same for every bucket. */
import { writeXml } from "../../http/xml.ts";
import { S3Error } from "../s3-errors.ts";
import {
  emptyResponse,
  owner,
  parseDocument,
  wholeParameter,
  xmlResponse,
  type S3Request,
  type BucketVerbFunction,
  type S3Response,
  type S3Service,
} from "../s3-message.ts";
import { isGeneralParameter } from "../route.ts";

/** AWS's limit of a page. */
const bucketsMax = 10_000;

export async function listBuckets(request: S3Request, { store }: S3Service): Promise<S3Response> {
  const { parameters } = request;
  const prefix = parameters.get("prefix");
  const after = parameters.get("continuation-token") ?? "";
  const limit = wholeParameter(request, "max-buckets", bucketsMax);
  const found = (await store.list())
    .filter(({ name }) => name.startsWith(prefix ?? "") && name > after)
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const page = found.slice(0, limit);
  const content = {
    Owner: owner,
    Buckets: {
      Bucket: page.map(({ name, created }) => ({
        Name: name,
        CreationDate: new Date(created).toISOString(),
      })),
    },
    ContinuationToken: found.length > limit ? page.at(-1)?.name : undefined,
    Prefix: prefix,
  };
  return xmlResponse(writeXml("ListAllMyBucketsResult", content));
}

/**
 * Makes a bucket. A bucket that exists is no error: clients create it before every upload.
 *
 * The location that a client asks for has no meaning here.
 */
export async function createBucket(
  { body, bucketName }: S3Request,
  { store }: S3Service,
): Promise<S3Response> {
  const document = await body.document();
  if (document !== "") parseDocument(document, "CreateBucketConfiguration");
  await store.create(bucketName);
  return emptyResponse(200, { location: `/${bucketName}` });
}

export const deleteBucket: BucketVerbFunction = async ({ bucketName }, _bucket, { store }) => {
  await store.delete(bucketName);
  return emptyResponse(204);
};

/** A verb has a bucket only if the bucket exists. */
export const headBucket: BucketVerbFunction = async () => {
  return emptyResponse(200, { "x-amz-bucket-region": "auto" });
};

/** Deviation: buckets have no location, so the answer is the region of all buckets. */
export const getBucketLocation: BucketVerbFunction = async ({ parameters }) => {
  const unknown = Array.from(parameters.keys()).find(
    (name) => name !== "location" && !isGeneralParameter(name),
  );
  if (unknown !== undefined) {
    throw new S3Error(
      "InvalidArgument",
      `Search param ${unknown} is unsupported for bucket location`,
    );
  }
  return xmlResponse(writeXml("LocationConstraint", "auto"));
};

/** The deployed service encrypts everything in one way, and says so for every bucket. */
export const getBucketEncryption: BucketVerbFunction = async () => {
  return xmlResponse(
    writeXml("ServerSideEncryptionConfiguration", {
      Rule: {
        ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" },
        BucketKeyEnabled: true,
      },
    }),
  );
};

/** No bucket has versions: the configuration has no status. */
export const getBucketVersioning: BucketVerbFunction = async () => {
  return xmlResponse(writeXml("VersioningConfiguration", {}));
};

// Settings that no bucket has, and whose absence clients ask for.

export const getBucketTagging: BucketVerbFunction = async () => {
  throw new S3Error("NoSuchTagSet");
};

export const getObjectLockConfiguration: BucketVerbFunction = async () => {
  throw new S3Error("ObjectLockConfigurationNotFoundError");
};

export const getBucketReplication: BucketVerbFunction = async () => {
  throw new S3Error("ReplicationConfigurationNotFoundError");
};
