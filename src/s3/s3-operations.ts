/**
 * The table of operations: which requests the server answers, and what each of them may say.
 *
 * A row is a method, a level and selectors: parameters, or headers of AWS, that name the operation. The
 * row with the most selectors that a request has is the row of the request. The request is executed only
 * if the row knows each of its parameters, and each of its headers that can change what the request means
 * (`x-amz-*`, `cf-*`). A name that the row does not have is an operation, an option or a condition that
 * the server does not have: to ignore it would execute another operation than the client asks for. So
 * `DELETE ?tagging` deleted the object, and a rename emptied it.
 *
 * Deviation: the deployed service passes over unknown subresources of objects, over unknown headers, and
 * over `uploadId` without `partNumber`, and stores the body of a POST to a key as an object.
 *
 * To add an operation, add a row. To accept a parameter or a header, add the name to the row.
 */
import { bucketRuleVerbs } from "./verbs/bucket-rules.ts";
import { bucketVerbs, type accountVerbs } from "./verbs/bucket-verbs.ts";
import { listVerbs } from "./verbs/list-verbs.ts";
import { multipartVerbs } from "./verbs/multipart-verbs.ts";
import { objectVerbs } from "./verbs/object-verbs.ts";

/** Verbs about a bucket that exists, or about an object in it. */
export const verbs = {
  ...bucketRuleVerbs,
  ...bucketVerbs,
  ...listVerbs,
  ...multipartVerbs,
  ...objectVerbs,
};

export type Verb = keyof typeof accountVerbs | keyof typeof verbs;

/**
 * Names of parameters and of headers, separated by spaces. `name=value` is the name with this value only,
 * and `prefix-*` each name with the prefix.
 */
type Names = string;

export interface Operation {
  readonly verb: Verb;
  /** Besides the selectors and `generalNames`. */
  readonly accepts: Names;
  /**
   * What only buckets with `s3_compatibility = "aws"` accept: the deployed service refuses these names, and
   * newer clients of AWS do not work without them.
   */
  readonly acceptsForAws?: Names;
  /** Whether only these buckets have the operation. */
  readonly isForAws?: boolean;
  /**
   * Whether parameters that select no operation are passed over: people add `?v=2` to the URL of an
   * object, so that a cache reads the object again.
   */
  readonly passesOver: boolean;
}

/** An operation that the server knows by name only. */
export interface RefusedOperation {
  readonly refused: string;
}

/** What a request is about: all buckets, a bucket, or an object. */
export type Level = "account" | "bucket" | "object";

/** What any request may have. A presigned URL has headers as parameters. */
export const generalNames: Names = [
  // Of the signature and of the body, which `authorization.ts` and `request-body.ts` verify.
  "x-amz-algorithm x-amz-credential x-amz-date x-amz-expires x-amz-signedheaders x-amz-signature",
  "x-amz-security-token",
  "x-amz-content-sha256 x-amz-decoded-content-length x-amz-trailer x-amz-sdk-checksum-algorithm",
  "x-amz-checksum-crc32 x-amz-checksum-crc32c x-amz-checksum-crc64nvme x-amz-checksum-sha1",
  "x-amz-checksum-sha256",
  // The client's name, and for AWS's SDKs the name of the operation, which has to be that of the row.
  "x-amz-user-agent x-id",
  // AWS's SDK for C++, which PyArrow has. There is no other version of the API.
  "x-amz-api-version=2006-03-01",
  // No request costs anything.
  "x-amz-request-payer",
  // Where an operation stores no object, AWS passes over metadata.
  "x-amz-meta-*",
  // Two verbs create the bucket. Clients set the header for all requests.
  "cf-create-bucket-if-missing",
  // Proxies and tunnels on the way add these.
  "x-amz-cf-id cf-ray cf-connecting-ip cf-connecting-ipv6 cf-connecting-o2o cf-pseudo-ipv4 cf-ipcountry",
  "cf-visitor cf-worker cf-ew-via cf-warp-tag-id cf-request-id cf-access-*",
].join(" ");

const customerKey: Names =
  "x-amz-server-side-encryption-customer-algorithm x-amz-server-side-encryption-customer-key " +
  "x-amz-server-side-encryption-customer-key-md5";
const sourceKey: Names = customerKey.replaceAll("x-amz-", "x-amz-copy-source-");
/** Values without effect, which many clients send by default: an object has no access list. */
const acl: Names =
  "x-amz-acl=private x-amz-acl=public-read x-amz-acl=public-read-write x-amz-acl=authenticated-read " +
  "x-amz-acl=aws-exec-read x-amz-acl=bucket-owner-read x-amz-acl=bucket-owner-full-control";
/** Everything is encrypted with AES256, as the deployed service says. */
const encryption: Names = "x-amz-server-side-encryption=AES256";
/** Of an object that is stored. */
const stored: Names = `${acl} ${customerKey} ${encryption} x-amz-storage-class`;
/** MinIO's clients say the algorithm and the type of the checksum, which another header or the trailer has. */
const algorithm: Names = ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"]
  .map((name) => `x-amz-checksum-algorithm=${name}`)
  .concat("x-amz-checksum-type=FULL_OBJECT")
  .join(" ");
/** s3fs says with each upload that the metadata are those of the request, as they are. */
const ownMetadata: Names = "x-amz-metadata-directive=REPLACE";
/** aws-cli says that a copy has no annotations, which no object has. */
const noAnnotations: Names = "x-amz-object-annotation-directive=EXCLUDE";
const conditions = (prefix: string): Names =>
  ["match", "none-match", "modified-since", "unmodified-since"]
    .map((condition) => `${prefix}if-${condition}`)
    .join(" ");

const read: Names =
  "versionId partNumber response-cache-control response-content-disposition response-content-encoding " +
  "response-content-language response-content-type response-expires";
/** AWS's SDK for Java asks for `x-amz-te: append-md5`, and works without the answer. */
const readHeaders: Names = `${customerKey} x-amz-checksum-mode x-amz-te`;
const listed: Names = "prefix delimiter encoding-type";
/** Asks for the state of restored objects, of which there are none. */
const listHeaders: Names = "x-amz-optional-object-attributes";

const served: Readonly<Record<string, Operation>> = {
  "GET account": row(
    "ListBuckets",
    "prefix max-buckets max-keys start-after continuation-token",
    "cf-prefix cf-max-keys cf-start-after cf-continuation-token",
  ),

  "HEAD bucket": row("HeadBucket"),
  "PUT bucket": row(
    "CreateBucket",
    `${acl} x-amz-bucket-object-lock-enabled=false x-amz-object-ownership=BucketOwnerEnforced`,
  ),
  "DELETE bucket": row("DeleteBucket"),
  "GET bucket": row("ListObjects", `${listed} marker max-keys`, listHeaders),
  "GET bucket list-type=2": row(
    "ListObjectsV2",
    `${listed} max-keys continuation-token start-after fetch-owner`,
    listHeaders,
  ),
  // MinIO's clients ask for metadata, and take a list without it.
  "GET bucket versions": row(
    "ListObjectVersions",
    `${listed} key-marker version-id-marker max-keys metadata`,
    listHeaders,
  ),
  "GET bucket uploads": row(
    "ListMultipartUploads",
    `${listed} key-marker upload-id-marker max-uploads`,
  ),
  "POST bucket delete": row("DeleteObjects"),
  "GET bucket location": row("GetBucketLocation"),
  "GET bucket encryption": row("GetBucketEncryption"),
  "GET bucket versioning": row("GetBucketVersioning"),
  "GET bucket tagging": row("GetBucketTagging"),
  "GET bucket object-lock": row("GetObjectLockConfiguration"),
  "GET bucket replication": row("GetBucketReplication"),
  "GET bucket cors": row("GetBucketCors"),
  "PUT bucket cors": row("PutBucketCors"),
  "DELETE bucket cors": row("DeleteBucketCors"),
  "GET bucket lifecycle": row("GetBucketLifecycle"),
  "PUT bucket lifecycle": row("PutBucketLifecycle"),
  "DELETE bucket lifecycle": row("DeleteBucketLifecycle"),

  "HEAD object": { ...row("HeadObject", read, readHeaders), passesOver: true },
  "GET object": { ...row("GetObject", read, readHeaders), passesOver: true },
  "PUT object": row("PutObject", `${stored} ${algorithm} ${ownMetadata}`),
  "DELETE object": row("DeleteObject", "versionId"),
  // No object has tags: to copy them and to replace them by none is the same.
  "PUT object x-amz-copy-source": {
    ...row(
      "CopyObject",
      `${stored} ${sourceKey} ${conditions("x-amz-copy-source-")} ${conditions("cf-copy-destination-")} ` +
        `x-amz-metadata-directive ${noAnnotations}`,
    ),
    acceptsForAws: "x-amz-tagging-directive=COPY x-amz-tagging-directive=REPLACE",
  },
  "GET object tagging": { ...row("GetObjectTagging", "versionId"), isForAws: true },
  "POST object uploads": row(
    "CreateMultipartUpload",
    `${stored} ${ownMetadata} x-amz-checksum-algorithm x-amz-checksum-type`,
  ),
  // The encryption of a part is that of its upload.
  "PUT object uploadId partNumber": row("UploadPart", `${customerKey} ${algorithm}`),
  "PUT object uploadId partNumber x-amz-copy-source": {
    ...row("UploadPartCopy", `${customerKey} ${sourceKey} x-amz-copy-source-range`),
    acceptsForAws: conditions("x-amz-copy-source-"),
  },
  "POST object uploadId": row(
    "CompleteMultipartUpload",
    `${customerKey} ${encryption} ${algorithm} x-amz-checksum-type x-amz-mp-object-size`,
  ),
  "DELETE object uploadId": row("AbortMultipartUpload"),
  // The deployed service lists the parts of an upload with a part number, too.
  "GET object uploadId": row(
    "ListParts",
    "max-parts part-number-marker encoding-type partNumber",
    customerKey,
  ),
  // The deployed service lists the uploads of the bucket.
  "GET object uploads": row(
    "ListMultipartUploads",
    `${listed} key-marker upload-id-marker max-uploads`,
  ),
};

function row(verb: Verb, ...accepts: readonly Names[]): Operation {
  return { verb, accepts: accepts.join(" "), passesOver: false };
}

/** The level and the selector, the methods, and the name after the method. */
const refused: readonly (readonly [selected: string, methods: string, name: string])[] = [
  ["bucket abac", "Get Put", "BucketAbac"],
  ["bucket accelerate", "Get Put", "BucketAccelerateConfiguration"],
  ["bucket acl", "Get Put", "BucketAcl"],
  ["bucket analytics", "Get Put Delete", "BucketAnalyticsConfiguration"],
  ["bucket encryption", "Put Delete", "BucketEncryption"],
  ["bucket intelligent-tiering", "Get Put Delete", "BucketIntelligentTieringConfiguration"],
  ["bucket inventory", "Get Put Delete", "BucketInventoryConfiguration"],
  ["bucket logging", "Get Put", "BucketLogging"],
  ["bucket metadataConfiguration", "Get Delete", "BucketMetadataConfiguration"],
  ["bucket metadataTable", "Get Delete", "BucketMetadataTableConfiguration"],
  ["bucket metrics", "Get Put Delete", "BucketMetricsConfiguration"],
  ["bucket notification", "Get Put", "BucketNotificationConfiguration"],
  ["bucket object-lock", "Put", "ObjectLockConfiguration"],
  ["bucket ownershipControls", "Get Put Delete", "BucketOwnershipControls"],
  ["bucket policy", "Get Put Delete", "BucketPolicy"],
  // The deployed service doubles the word Get.
  ["bucket policyStatus", "Get", "GetBucketPolicyStatus"],
  ["bucket publicAccessBlock", "Get Put Delete", "PublicAccessBlock"],
  ["bucket replication", "Put Delete", "BucketReplication"],
  ["bucket requestPayment", "Get Put", "BucketRequestPayment"],
  ["bucket tagging", "Put Delete", "BucketTagging"],
  ["bucket versioning", "Put", "BucketVersioning"],
  ["bucket website", "Get Put Delete", "BucketWebsite"],
  ["object acl", "Get Put", "ObjectAcl"],
  ["object annotation", "Get Put Delete", "ObjectAnnotation"],
  ["object attributes", "Get", "ObjectAttributes"],
  ["object legal-hold", "Get Put", "ObjectLegalHold"],
  ["object retention", "Get Put", "ObjectRetention"],
  ["object tagging", "Put Delete", "ObjectTagging"],
  ["object torrent", "Get", "ObjectTorrent"],
];

/** Operations whose names do not begin with the method. */
const refusedNames: Readonly<Record<string, string>> = {
  "GET bucket session": "CreateSession",
  "POST bucket metadataConfiguration": "CreateBucketMetadataConfiguration",
  "POST bucket metadataTable": "CreateBucketMetadataTableConfiguration",
  "PUT bucket metadataAnnotationTable": "UpdateBucketMetadataAnnotationTableConfiguration",
  "PUT bucket metadataInventoryTable": "UpdateBucketMetadataInventoryTableConfiguration",
  "PUT bucket metadataJournalTable": "UpdateBucketMetadataJournalTableConfiguration",
  "POST object restore": "RestoreObject",
  "POST object select": "SelectObjectContent",
  "PUT object encryption": "UpdateObjectEncryption",
  "PUT object renameObject": "RenameObject",
};

/** By `METHOD level selector…` */
export const operations: Readonly<Record<string, Operation | RefusedOperation>> = {
  ...served,
  ...Object.fromEntries(
    refused.flatMap(([selected, methods, name]) =>
      methods
        .split(" ")
        .map((method) => [`${method.toUpperCase()} ${selected}`, { refused: method + name }]),
    ),
  ),
  ...Object.fromEntries(
    Object.entries(refusedNames).map(([selected, name]) => [selected, { refused: name }]),
  ),
};
