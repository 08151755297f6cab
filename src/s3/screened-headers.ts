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
}

const screenings: Partial<Record<Verb, Screening>> = {
  GetObject: { refused: owner },
  HeadObject: { refused: owner },
  PutObject: { refused: written, describesObject: true },
  PostObject: { refused: written, describesObject: true },
  CopyObject: {
    refused: [...written, ...sourceOwner, "x-amz-tagging-directive", "x-amz-checksum-algorithm"],
    describesObject: true,
  },
  CreateMultipartUpload: { refused: written, describesObject: true },
  UploadPart: { refused: [...owner, "x-amz-server-side-encryption"] },
  UploadPartCopy: {
    refused: [...owner, ...sourceOwner, ...copySourceConditions],
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
  const { refused, describesObject } = screenings[verb] ?? otherVerbs;
  for (const name of refused) refuse(headers, name, () => false);
  if (describesObject === true) {
    // Everything is encrypted with AES256 where the deployed service stores it.
    refuse(headers, "x-amz-server-side-encryption", (value) => value === "AES256");
    refuse(headers, "x-amz-acl", (value) => cannedAccessLists.has(value));
  }
}

function refuse(headers: S3Headers, name: string, isAccepted: (value: string) => boolean): void {
  const value = headers.get(name);
  if (value === null || isAccepted(value)) return;
  throw new S3Error("NotImplemented", `Header '${name}' with value '${value}' not implemented`);
}
