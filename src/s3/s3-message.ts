/**
 * What a verb receives and returns: a request and a response of the S3-compatible API without HTTP,
 * and the store that the server serves. `http-server.ts` makes requests and sends responses.
 */
import { readXml, writeXml, type XmlContent, type XmlElement } from "../http/xml.ts";
import { contentRange } from "../store/core/byte-range.ts";
import type { CorsRule } from "../store/core/cors.ts";
import { StoreError } from "../store/core/errors.ts";
import type { StorageClass } from "../store/core/operations.ts";
import type { Bucket, OpenContent } from "../store/node/bucket.ts";
import type { ProjectRemote } from "../store/config/remotes.ts";
import type { S3Compatibility } from "../store/config/store-buckets.ts";
import type { StoreClient } from "../store/node/store-client.ts";
import type { Permissions } from "./permissions.ts";
import type { RequestBody } from "./request-body.ts";
import { S3Error } from "./s3-errors.ts";

export interface S3Request {
  readonly method: string;
  /** The name in the path or in the host; empty for a request about all buckets. */
  readonly bucketName: string;
  /** Empty for a request about a bucket. */
  readonly key: string;
  /** Of the query. The first of equal names counts. */
  readonly parameters: ReadonlyMap<string, string>;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: RequestBody;
  /** Without a signature. Only objects of public buckets are in reach of such a request. */
  readonly isAnonymous: boolean;
  /** Of temporary credentials; `null`: everything is permitted. */
  readonly permissions: Permissions | null;
  /** The URL of the bucket, as the client has written it, without a slash at the end. */
  readonly bucketUrl: string;
}

export interface S3Response {
  readonly status: number;
  /** Names in lower case. A header that is `undefined` is not sent. */
  readonly headers?: S3ResponseHeaders;
  /** A response without a body has none. The length of open content is in `content-length`. */
  readonly body?: string | Uint8Array | OpenContent;
}

type S3ResponseHeaders = Readonly<Record<string, string | undefined>>;

export interface S3Service {
  readonly store: Pick<StoreClient, "list" | "find" | "create" | "delete">;
  /** Called for each request, because the configuration may change. */
  readonly settingsOf: (bucketName: string) => S3BucketOptions | undefined;
  /** Called with errors that no client has caused. The client gets an internal error. */
  readonly onError: (error: unknown) => void;
}

/** A bucket of the configuration: it exists from the start, and no request can delete it. */
export interface S3BucketOptions {
  readonly name: string;
  /** Requests without a signature may read the objects of the bucket. */
  readonly public?: boolean;
  /** The CORS rules of the bucket, until a request puts others. */
  readonly cors?: readonly CorsRule[];
  /** The class of objects that are stored without one. Default: Standard */
  readonly storageClass?: StorageClass;
  /**
   * `aws`: the conditions of UploadPartCopy and the tags of objects, which are none, are answered as AWS answers
   * them. Default: both are refused, as the deployed service refuses them.
   */
  readonly compatibility?: S3Compatibility;
  /** The S3 service that has the bucket: requests go on to it. Default: the bucket is in the state folder. */
  readonly remote?: ProjectRemote;
}

export type BucketVerbFunction = (
  request: S3Request,
  bucket: Bucket,
  service: S3Service,
) => Promise<S3Response>;

export const xmlHeaders = { "content-type": "application/xml" } as const;

/** @param root the name of the root element */
export function xmlResponse(
  root: string,
  content: XmlContent,
  headers: S3ResponseHeaders = {},
): S3Response {
  return { status: 200, headers: { ...xmlHeaders, ...headers }, body: writeXml(root, content) };
}

export function errorResponse(error: unknown): S3Response {
  const { status, code, message, details } = describeError(error);
  const content = { Code: code, Message: message, ...details };
  const size = error instanceof StoreError ? error.objectSize : undefined;
  const range = size === undefined ? undefined : contentRange(null, size);
  return {
    status,
    headers: { ...xmlHeaders, "content-range": range },
    body: writeXml("Error", content, { hasNamespace: false }),
  };
}

function describeError(
  error: unknown,
): Pick<S3Error, "status" | "message"> & { code: string; details?: S3Error["details"] } {
  if (error instanceof S3Error) return error;
  // A path, a query or the source of a copy is not UTF-8 in percent-encoding.
  if (error instanceof URIError) return new S3Error("InvalidURI");
  if (!(error instanceof StoreError)) {
    return new S3Error("InternalError", error instanceof Error ? error.message : undefined);
  }
  const { message, status } = error;
  if (error.lacksSpace) return new S3Error("InsufficientStorage", message);
  // The deployed service answers with this code for every problem with the parts of an upload.
  const code = error.code === 10048 ? "InvalidPart" : error.s3Name;
  return { status, code, message: error.reason ?? message };
}

/** @throws S3Error MalformedXML for another text or another root element */
export function parseDocument(text: string, rootName: string): XmlElement {
  let root: XmlElement | undefined;
  try {
    root = readXml(text);
  } catch {
    // The text is not XML.
  }
  if (root?.name !== rootName) throw new S3Error("MalformedXML");
  return root;
}

/** @throws S3Error InvalidArgument */
export function wholeParameter(
  { parameters }: Pick<S3Request, "parameters">,
  name: string,
  max: number,
  fallback = max,
): number {
  const text = parameters.get(name) ?? "";
  if (text === "") return fallback;
  if (!/^\d{1,10}$/.test(text)) {
    throw new S3Error(
      "InvalidArgument",
      `Argument ${name} must be an integer between 0 and ${max}`,
    );
  }
  return Math.min(Number(text), max);
}

/** The owner of every bucket and of every object: there is one user. */
export const owner = { ID: "ledge", DisplayName: "ledge" } as const;
