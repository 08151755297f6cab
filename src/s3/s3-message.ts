/**
 * What a verb receives and returns: a request and a response of the S3-compatible API without HTTP,
 * and the store that the server serves. `http-server.ts` makes requests and sends responses.
 */
import { readXml, writeXml, type XmlElement } from "../http/xml.ts";
import { StoreError } from "../store/core/errors.ts";
import type { Bucket, OpenContent } from "../store/node/bucket.ts";
import type { StoreClient } from "../store/node/store-client.ts";
import type { RequestBody } from "./request-body.ts";
import { S3Error } from "./s3-errors.ts";

export interface S3Request {
  readonly method: string;
  /** The name in the path or in the host; empty for a request about all buckets. */
  readonly bucketName: string;
  /** Decoded; empty for a request about a bucket. */
  readonly key: string;
  /** Of the query. The first of equal names counts. */
  readonly parameters: ReadonlyMap<string, string>;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: RequestBody;
  /** Without a signature. Only objects of public buckets are in reach of such a request. */
  readonly isAnonymous: boolean;
  /** The URL of the bucket, as the client has written it, without a slash at the end. */
  readonly bucketUrl: string;
}

export interface S3Response {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A response without a body has none. The length of open content is in `content-length`. */
  readonly body?: string | Uint8Array | OpenContent;
}

export interface S3Service {
  readonly store: Pick<StoreClient, "list" | "find" | "create" | "delete">;
  /** Called for each request, because the configuration may change. */
  readonly settingsOf: (bucketName: string) => BucketSettings;
  /** Called with errors that no client has caused. The client gets an internal error. */
  readonly onError: (error: unknown) => void;
}

/** The settings of a bucket that its configuration has. */
interface BucketSettings {
  /** Whether requests without a signature may read objects. */
  readonly isPublic: boolean;
  /** They count until a request puts rules. */
  readonly cors: readonly CorsRule[];
}

export interface CorsRule {
  readonly id?: string;
  /** With at most one `*` each. */
  readonly allowedOrigins: readonly string[];
  readonly allowedMethods: readonly string[];
  /** With at most one `*` each, in any case. */
  readonly allowedHeaders?: readonly string[];
  readonly exposeHeaders?: readonly string[];
  readonly maxAgeSeconds?: number;
}

/** The function of a verb about a bucket that exists, or about an object in it. */
export type BucketVerbFunction = (
  request: S3Request,
  bucket: Bucket,
  service: S3Service,
) => Promise<S3Response>;

const xmlHeaders = { "content-type": "application/xml" } as const;

export function emptyResponse(status: number, headers: Record<string, string> = {}): S3Response {
  return { status, headers };
}

export function xmlResponse(body: string, headers: Record<string, string> = {}): S3Response {
  return { status: 200, headers: { ...xmlHeaders, ...headers }, body };
}

/** Whether the client has caused the error. */
export function isExpected(error: unknown): boolean {
  return error instanceof S3Error || error instanceof StoreError || error instanceof URIError;
}

/** The response to a request that failed. */
export function errorResponse(error: unknown): S3Response {
  const { status, code, text, details } = describeError(error);
  const content = { Code: code, Message: text, ...details };
  return { status, headers: xmlHeaders, body: writeXml("Error", content, { hasNamespace: false }) };
}

interface ErrorDescription {
  readonly status: number;
  readonly code: string;
  readonly text: string;
  readonly details?: Readonly<Record<string, string>>;
}

function describeError(error: unknown): ErrorDescription {
  if (error instanceof S3Error) {
    const { status, code, message: text, details } = error;
    return { status, code, text, details };
  }
  // A path, a query or the source of a copy is not UTF-8 in percent-encoding.
  if (error instanceof URIError) return describeError(new S3Error("InvalidURI"));
  if (error instanceof StoreError) {
    const { message: text, status } = error;
    if (error.lacksSpace) return describeError(new S3Error("InsufficientStorage", text));
    // The deployed service answers with this code for every problem with the parts of an upload.
    return { status, code: error.code === 10048 ? "InvalidPart" : error.s3Name, text };
  }
  const { status, code, message } = new S3Error("InternalError");
  return { status, code, text: error instanceof Error ? error.message : message };
}

/**
 * The document of a request.
 *
 * @throws S3Error MalformedXML for another text or another root element
 */
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
  { parameters }: S3Request,
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
