/** Verbs about buckets, and settings that are the same for every bucket. */
import { S3Error } from "../s3-errors.ts";
import {
  owner,
  parseDocument,
  wholeParameter,
  xmlResponse,
  type BucketVerbFunction,
  type S3Request,
  type S3Response,
  type S3Service,
} from "../s3-message.ts";

/** AWS's limit of a page. */
const bucketsMax = 10_000;

/** Verbs that need no bucket. */
export const accountVerbs = {
  async ListBuckets(request, { store }) {
    const prefix = request.parameters.get("prefix");
    const after = request.parameters.get("continuation-token") ?? "";
    const limit = wholeParameter(request, "max-buckets", bucketsMax);
    const found = (await store.list()).filter(
      ({ name }) => name.startsWith(prefix ?? "") && name > after,
    );
    const page = found.slice(0, limit);
    return xmlResponse("ListAllMyBucketsResult", {
      Owner: owner,
      Buckets: {
        Bucket: page.map(({ name, created }) => ({
          Name: name,
          CreationDate: new Date(created).toISOString(),
        })),
      },
      ContinuationToken: found.length > limit ? page.at(-1)?.name : undefined,
      Prefix: prefix,
    });
  },

  /**
   * A bucket that exists is no error: clients create it before every upload. The location that a
   * client asks for has no meaning here.
   */
  async CreateBucket({ body, bucketName }, { store }) {
    const document = await body.document();
    if (document !== "") parseDocument(document, "CreateBucketConfiguration");
    await store.create(bucketName);
    return { status: 200, headers: { location: `/${bucketName}` } };
  },
} satisfies Record<string, (request: S3Request, service: S3Service) => Promise<S3Response>>;

export const bucketVerbs = {
  async DeleteBucket({ bucketName }, _bucket, { store }) {
    await store.delete(bucketName);
    return { status: 204 };
  },

  async HeadBucket() {
    return { status: 200, headers: { "x-amz-bucket-region": "auto" } };
  },

  /** Deviation: buckets have no location, so the answer is the region of all buckets. */
  async GetBucketLocation() {
    return xmlResponse("LocationConstraint", "auto");
  },

  /** The deployed service encrypts everything in one way, and says so for every bucket. */
  async GetBucketEncryption() {
    return xmlResponse("ServerSideEncryptionConfiguration", {
      Rule: {
        ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" },
        BucketKeyEnabled: true,
      },
    });
  },

  /** No bucket has versions: the configuration has no status. */
  async GetBucketVersioning() {
    return xmlResponse("VersioningConfiguration", {});
  },

  // Settings that no bucket has, and whose absence clients ask for.

  async GetBucketTagging() {
    throw new S3Error("NoSuchTagSet");
  },

  async GetObjectLockConfiguration() {
    throw new S3Error("ObjectLockConfigurationNotFoundError");
  },

  async GetBucketReplication() {
    throw new S3Error("ReplicationConfigurationNotFoundError");
  },
} satisfies Record<string, BucketVerbFunction>;
