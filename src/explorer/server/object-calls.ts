/** Objects: lists, metadata, uploads of the page, and links. */
import { lookup } from "mrmime";
import * as v from "valibot";
import { readPieces } from "../../base/node-http.ts";
import { expiresSecondsMax, presign } from "../../http/signature.ts";
import type { Conditional } from "../../store/core/conditional.ts";
import { StoreError } from "../../store/core/errors.ts";
import { listLimitMax, uploadBytesMax } from "../../store/core/limits.ts";
import { decodeCursor } from "../../store/core/list-page.ts";
import {
  validateMetadata,
  type CustomMetadata,
  type HttpMetadata,
} from "../../store/core/metadata.ts";
import { allChecksums, decodeObject, decodeObjects } from "../../store/core/object.ts";
import type { DescribedObject, ListRequest, ObjectRecord } from "../../store/core/operations.ts";
import type { Link, ListedObject, ObjectDetails, ObjectPage } from "../api/buckets.ts";
import { downloadFolder, downloadSelection } from "./archive.ts";
import {
  checkKey,
  explained,
  objectMissing,
  quoted,
  requireBucket,
  requireKey,
} from "./buckets.ts";
import {
  CallError,
  json,
  readInput,
  type ExplorerCall,
  type ExplorerResponse,
  type Route,
} from "./call.ts";
import { readContent } from "./content.ts";

import { copyObject, onlyIfAbsent } from "./transfer.ts";

/**
 * A page of a bucket, by one list operation. The HTTP metadata are included for the types of the
 * contents: a page of 1,000 objects took 18 ms with them and 9 ms without, which a person does not
 * notice. A page with metadata has at most 256 KiB, so it can have fewer objects than its limit.
 */
async function listObjects(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const request = readListRequest(call.query);
  const { objectsJson, prefixes, cursor } = await bucket.call({ method: "list", ...request });
  return json({
    objects: decodeObjects(objectsJson, { http: true, custom: false }).map(listedObject),
    folders: prefixes,
    cursor: cursor ?? null,
  } satisfies ObjectPage);
}

/** @throws CallError */
function readListRequest(query: URLSearchParams): ListRequest {
  const after = query.get("after") ?? "";
  const cursor = query.get("cursor") ?? "";
  const limitText = query.get("limit") ?? String(listLimitMax);
  const limit = /^\d{1,9}$/.test(limitText) ? Number(limitText) : 0;
  if (limit < 1 || limit > listLimitMax) {
    const text = `"limit" must be a whole number from 1 to ${listLimitMax}, not "${limitText}".`;
    throw new CallError(400, text, 10022);
  }
  try {
    // The bucket would call a wrong cursor an internal error.
    if (cursor !== "") decodeCursor(cursor);
  } catch (error) {
    throw error instanceof StoreError ? new CallError(400, error.message) : error;
  }
  return {
    prefix: query.get("prefix") ?? "",
    delimiter: query.get("delimiter") ?? "",
    limit,
    ...(after !== "" && { startAfter: after }),
    ...(cursor !== "" && { cursor }),
    includeHttp: true,
    includeCustom: false,
  };
}

function listedObject(object: ObjectRecord): ListedObject {
  const { key, size, etag, uploaded, storageClass, http } = object;
  return { key, size, etag, uploaded, storageClass, contentType: http?.contentType ?? null };
}

function details(object: DescribedObject): ExplorerResponse {
  return json({
    ...listedObject(object),
    version: object.version,
    httpMetadata: object.http,
    customMetadata: object.custom,
    checksums: allChecksums(object),
    hasCustomerKey: object.ssecKeyMd5 !== undefined,
  } satisfies ObjectDetails);
}

async function describeObject(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const key = requireKey(call);
  const found = await bucket.call({ method: "head", key });
  if (found === null) throw objectMissing(bucket.name, key);
  return details(decodeObject(key, found));
}

const filledText = v.pipe(v.string("must be text"), v.nonEmpty("must not be empty"));
const headerText = v.pipe(
  v.string("must be text"),
  v.check(
    (text) => !["\r", "\n", "\0"].some((character) => text.includes(character)),
    "must not have a line break or a NUL character",
  ),
);
const timeProblem = "must be a time in milliseconds";

const metadataChangeSchema = v.object({
  etag: filledText,
  version: filledText,
  httpMetadata: v.strictObject({
    contentType: v.exactOptional(headerText),
    contentLanguage: v.exactOptional(headerText),
    contentDisposition: v.exactOptional(headerText),
    contentEncoding: v.exactOptional(headerText),
    cacheControl: v.exactOptional(headerText),
    cacheExpiry: v.exactOptional(
      v.pipe(
        v.number(timeProblem),
        v.check((time) => !Number.isNaN(new Date(time).getTime()), timeProblem),
      ),
    ),
  }),
  // Not `v.record`, which leaves out names such as "constructor".
  customMetadata: v.custom<CustomMetadata>(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every((text) => typeof text === "string"),
    "must be names with texts",
  ),
  storageClass: v.picklist(
    ["Standard", "InfrequentAccess"],
    "must be Standard or InfrequentAccess",
  ),
});

/** The content stays: the object is copied onto itself. */
async function changeMetadata(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const key = requireKey(call);
  const change = await readInput(call, metadataChangeSchema);
  const { etag, version, httpMetadata: http, customMetadata: custom, storageClass } = change;
  try {
    validateMetadata(http, custom);
  } catch (error) {
    throw explained(error, { key });
  }
  const isSame: Conditional = { etagMatches: [{ kind: "strong", value: etag }] };
  const outcome = await copyObject(
    { bucket, key, onlyIf: isSame, version },
    { bucket, key, onlyIf: isSame, description: { http, custom, storageClass } },
  );
  if (outcome.status === "missing") throw objectMissing(bucket.name, key);
  if (outcome.status === "copied") return details(outcome.object);
  throw new CallError(
    412,
    `The object ${quoted(key)} was changed meanwhile, and its metadata are not replaced. Load the ` +
      "object again, and repeat the change.",
    10031,
  );
}

/** The body goes to the bucket as it arrives, and is never whole in memory. */
async function writeObject(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const key = requireKey(call);
  const overwrite = call.query.get("overwrite") ?? "true";
  if (overwrite !== "true" && overwrite !== "false") {
    throw new CallError(400, `"overwrite" must be true or false, not "${overwrite}".`);
  }
  const contentType = contentTypeOf(key, call.headers["content-type"]);
  const http: HttpMetadata = contentType === undefined ? {} : { contentType };
  validateMetadata(http, {});
  const condition = overwrite === "true" ? {} : { onlyIf: onlyIfAbsent };
  const exists = new CallError(
    412,
    `An object ${quoted(key)} exists already. Choose another key, or allow the object to be replaced.`,
    10031,
  );
  // Before the content is sent for nothing. The bucket decides when the content is stored.
  const isTaken = overwrite === "false" && (await bucket.call({ method: "head", key })) !== null;
  if (isTaken) throw exists;
  let content;
  try {
    if (Number(call.headers["content-length"] ?? 0) > uploadBytesMax) throw new StoreError(100100);
    content = await bucket.write(bodyOf(call));
  } catch (error) {
    throw explained(error, { key });
  }
  const storageClass = call.context.storageClassOf(bucket.name);
  const put = { method: "put", key, content, http, custom: {}, storageClass } as const;
  const stored = await bucket.call({ ...put, ...condition });
  if (stored === null) throw exists;
  return details(decodeObject(key, stored));
}

/** What browsers take the source of a program for, by its extension: a video, or a translation of Qt. */
const notTypeScript: ReadonlySet<string | undefined> = new Set([
  "video/mp2t",
  "text/vnd.trolltech.linguist",
]);

/** What the browser knows of the file, or the type of the extension. */
function contentTypeOf(key: string, known: string | undefined): string | undefined {
  const type = known ?? lookup(key);
  return notTypeScript.has(type) ? "text/plain" : type;
}

/** A person cancels an upload: the page breaks off the request, which is no error of Ledge. */
async function* bodyOf({ body }: ExplorerCall): AsyncGenerator<Uint8Array> {
  try {
    yield* readPieces(body);
  } catch (error) {
    throw Object.assign(new CallError(400, "The upload was broken off."), { cause: error });
  }
}

const secondsProblem = `must be a whole number of seconds from 1 to ${expiresSecondsMax}, which is 7 days`;

const linkRequestSchema = v.object({
  key: v.string("must be text"),
  expiresSeconds: v.pipe(
    v.number(secondsProblem),
    v.integer(secondsProblem),
    v.minValue(1, secondsProblem),
    v.maxValue(expiresSecondsMax, secondsProblem),
  ),
});

/** A presigned link: it leads to the S3-compatible API, and needs no token. */
async function makeLink(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const { key, expiresSeconds } = await readInput(call, linkRequestSchema);
  checkKey(key);
  const served = call.context.s3();
  if (served === null) {
    throw new CallError(
      409,
      "A link leads to the S3-compatible API, which is not running. Start ledge dev or ledge s3, " +
        "and try again.",
    );
  }
  const now = Date.now();
  const url = await presign({
    endpoint: served.url,
    credentials: served.credentials,
    method: "GET",
    bucketName: bucket.name,
    key,
    expiresSeconds,
    now,
  });
  if (URL.parse(url)?.href !== url) {
    throw new CallError(
      409,
      `Browsers change the address of ${quoted(key)}, because a segment of the key is "." or "..". ` +
        "Copy the object to another key, and make a link to the copy.",
    );
  }
  return json({ url, expires: now + expiresSeconds * 1000 } satisfies Link);
}

export const objectRoutes: readonly Route[] = [
  { method: "GET", path: "/api/buckets/:bucket/objects", handle: listObjects },
  { method: "GET", path: "/api/buckets/:bucket/object", handle: describeObject },
  { method: "PATCH", path: "/api/buckets/:bucket/object", handle: changeMetadata },
  { method: "GET", path: "/api/buckets/:bucket/content", handle: readContent },
  { method: "PUT", path: "/api/buckets/:bucket/content", handle: writeObject },
  { method: "GET", path: "/api/buckets/:bucket/archive", handle: downloadFolder },
  { method: "POST", path: "/api/buckets/:bucket/archive", handle: downloadSelection },
  { method: "POST", path: "/api/buckets/:bucket/links", handle: makeLink },
];
