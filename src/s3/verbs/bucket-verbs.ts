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

/** The deployed service's limit of a page. */
const bucketsMax = 1000;
const listParameters = ["prefix", "start-after", "continuation-token", "max-keys"];

/** Verbs that need no bucket. */
export const accountVerbs = {
  /**
   * With the parameters of ListObjectsV2, an extension of the deployed service, which takes them in headers
   * too: clients have no way to set the parameters. AWS has `max-buckets` instead of `max-keys`.
   *
   * Deviation: with `max-buckets`, `ContinuationToken` is that of the next page, as AWS's clients expect.
   */
  async ListBuckets(request, { store }) {
    const parameters = new Map(request.parameters);
    for (const name of listParameters) {
      const header = request.headers.get(`cf-${name}`);
      if (header !== undefined) parameters.set(name, header);
    }
    const isOfAws = parameters.has("max-buckets") && !parameters.has("max-keys");
    const limit = wholeParameter({ parameters }, isOfAws ? "max-buckets" : "max-keys", bucketsMax);
    const prefix = parameters.get("prefix");
    const startAfter = parameters.get("start-after");
    const token = parameters.get("continuation-token");
    const after = token ?? startAfter ?? "";
    const found = (await store.list()).filter(
      ({ name }) => name.startsWith(prefix ?? "") && name > after,
    );
    const page = found.slice(0, limit);
    // A page of 0 buckets is the last, as a page of 0 keys is.
    const next = found.length > limit ? page.at(-1)?.name : undefined;
    const headers = {
      "cf-is-truncated": String(next !== undefined),
      "cf-next-continuation-token": next,
    };
    const result = {
      Owner: owner,
      Buckets: {
        Bucket: page.map(({ name, created }) => ({
          Name: name,
          CreationDate: new Date(created).toISOString(),
        })),
      },
      Prefix: prefix,
      StartAfter: startAfter,
      ContinuationToken: isOfAws ? next : token,
      NextContinuationToken: next,
      IsTruncated: next !== undefined,
      KeyCount: page.length,
      MaxKeys: limit,
    };
    return xmlResponse("ListAllMyBucketsResult", result, headers);
  },

  /**
   * Deviation: a bucket that exists is no error (409 BucketConflict): clients create it before every
   * upload. The location that a client asks for has no meaning here.
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
