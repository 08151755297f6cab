/**
 * Headers that change what a request means in ways that the store does not have. The deployed
 * service refuses them by verb, with their names; unknown headers are ignored.
 */
import type { Verb } from "./route.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Headers } from "./s3-request.ts";

const owner = ["x-amz-expected-bucket-owner"];
const sourceOwner = ["x-amz-source-expected-bucket-owner"];
const bypass = ["x-amz-mfa", "x-amz-bypass-governance-retention"];
const written = [
  ...owner,
  "x-amz-tagging",
  "x-amz-grant-full-control",
  "x-amz-grant-read",
  "x-amz-grant-read-acp",
  "x-amz-grant-write",
  "x-amz-grant-write-acp",
  "x-amz-website-redirect-location",
  "x-amz-object-lock-mode",
  "x-amz-object-lock-retain-until-date",
  "x-amz-object-lock-legal-hold",
  "x-amz-server-side-encryption-aws-kms-key-id",
  "x-amz-server-side-encryption-context",
  "x-amz-server-side-encryption-bucket-key-enabled",
];
const copySourceConditions = [
  "x-amz-copy-source-if-match",
  "x-amz-copy-source-if-none-match",
  "x-amz-copy-source-if-modified-since",
  "x-amz-copy-source-if-unmodified-since",
];
/** They have no effect, because an object has no access list here. */
const cannedAccessLists = new Set([
  "private",
  "public-read",
  "public-read-write",
  "authenticated-read",
  "aws-exec-read",
  "bucket-owner-read",
  "bucket-owner-full-control",
]);

interface Screening {
  readonly refused: readonly string[];
  readonly describesObject?: boolean;
  /** How the verb meets a key of the client for the encryption of the object. */
  readonly clientKey?: "read" | "write";
}

const screenings: Partial<Record<Verb, Screening>> = {
  GetObject: { refused: owner, clientKey: "read" },
  HeadObject: { refused: owner, clientKey: "read" },
  PutObject: { refused: written, describesObject: true, clientKey: "write" },
  PostObject: { refused: written, describesObject: true, clientKey: "write" },
  CopyObject: {
    refused: [...written, ...sourceOwner, "x-amz-tagging-directive", "x-amz-checksum-algorithm"],
    describesObject: true,
    clientKey: "write",
  },
  CreateMultipartUpload: { refused: written, describesObject: true, clientKey: "write" },
  UploadPart: { refused: [...owner, "x-amz-server-side-encryption"], clientKey: "write" },
  UploadPartCopy: {
    refused: [...owner, ...sourceOwner, ...copySourceConditions],
    clientKey: "write",
  },
  DeleteObject: { refused: [...owner, ...bypass] },
  DeleteObjects: { refused: [...owner, ...bypass] },
  AbortMultipartUpload: { refused: [] },
  ListBuckets: { refused: [] },
};
const otherVerbs: Screening = { refused: owner };

/** @throws S3Error */
export function screenHeaders(verb: Verb, headers: S3Headers): void {
  if (headers.get("x-amz-security-token") !== null) {
    throw new S3Error("InvalidArgument", "X-Amz-Security-Token");
  }
  const { refused, describesObject, clientKey } = screenings[verb] ?? otherVerbs;
  for (const name of refused) refuse(headers, name, () => false);
  if (describesObject === true) {
    // Everything is encrypted with AES256 where the deployed service stores it.
    refuse(headers, "x-amz-server-side-encryption", (value) => value === "AES256");
    refuse(headers, "x-amz-acl", (value) => cannedAccessLists.has(value));
  }
  if (clientKey === undefined) return;
  screenClientKey(headers, "x-amz-", clientKey);
  if (verb === "CopyObject" || verb === "UploadPartCopy") {
    screenClientKey(headers, "x-amz-copy-source-", clientKey);
  }
}

function refuse(headers: S3Headers, name: string, isAccepted: (value: string) => boolean): void {
  const value = headers.get(name);
  if (value === null || isAccepted(value)) return;
  throw new S3Error("NotImplemented", `Header '${name}' with value '${value}' not implemented`);
}

/**
 * Deviation: the store does not encrypt with keys of clients. A write is refused rather than stored
 * in the clear. A read is refused as the deployed service refuses it for an object without a key.
 */
function screenClientKey(headers: S3Headers, prefix: string, use: "read" | "write"): void {
  const name = `${prefix}server-side-encryption-customer-`;
  const [algorithm, key, keyMd5] = ["algorithm", "key", "key-md5"].map((field) =>
    headers.get(name + field),
  );
  if (algorithm === null && key === null && keyMd5 === null) return;
  if (key === null) throw incomplete("an appropriate secret key.");
  if (keyMd5 === null) throw incomplete("the client calculated MD5 of the secret key.");
  if (algorithm === null) throw incomplete("a valid encryption algorithm.");
  if (algorithm !== "AES256") throw new S3Error("InvalidEncryptionAlgorithmError");
  if (use === "write") refuse(headers, `${name}algorithm`, () => false);
  throw new S3Error(
    "InvalidRequest",
    "The encryption parameters are not applicable to this object.",
  );
}

function incomplete(missing: string): S3Error {
  return new S3Error(
    "InvalidArgument",
    `Requests specifying Server Side Encryption with Customer provided keys must provide ${missing}`,
  );
}
