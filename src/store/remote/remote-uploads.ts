/**
 * Multipart uploads on an S3 service: parts are parts of the service. The properties of the object are
 * packed when the upload is created, so its version and its time are those of the creation.
 *
 * Our own rules select the parts of a completion. When the answer to the completion gets lost, the upload
 * tells whether it was completed: the service no longer knows it, and the object has the entity tag that
 * follows from the parts.
 */
import { randomHex } from "../../base/random-hex.ts";
import {
  checksumElements,
  checksumHeaders,
  checksumsInElement,
  checksumTypeName,
  hexToBase64,
} from "../../http/headers.ts";
import { childrenOf, childText, type XmlElement, writeXml } from "../../http/xml.ts";
import { checkContent } from "../core/content.ts";
import { conditionHolds, type Conditional } from "../core/conditional.ts";
import { requireSameKey, validateMetadata } from "../core/metadata.ts";
import { StoreError } from "../core/errors.ts";
import { listLimitMax, uploadBytesMax } from "../core/limits.ts";
import { validateLimit } from "../core/list-page.ts";
import {
  multipartEtag,
  selectParts,
  validatePartNumber,
  type ListedPart,
} from "../core/multipart.ts";
import type { NewObject } from "../core/object.ts";
import type { EncodedObject, Request, Result } from "../core/operations.ts";
import { checksumsOfUpload, resolveUploadChecksum } from "../core/checksum.ts";
import { serviceKey, type RemoteContext } from "./remote-context.ts";
import {
  decodeUploadId,
  encodeObject,
  encodeUploadId,
  etagOf,
  packHeaders,
  unquoted,
  type UploadProperties,
} from "./remote-object.ts";
import { headObject } from "./remote-reads.ts";
import {
  conflictsMax,
  guardOf,
  replaced,
  requestBody,
  requiredGuardHeaders,
  uncertain,
  unknownOutcome,
  unknownsMax,
  type Guard,
  type WriteAnswer,
} from "./remote-writes.ts";
import {
  errorIn,
  parseDocument,
  readDocument,
  readErrorDocument,
  readExpected,
  refusalOf,
} from "./s3-answer.ts";
import { RemoteError } from "./s3-transport.ts";

/** An upload, by the key and the id that the service knows. */
export interface ServiceUpload {
  readonly key: string;
  readonly serviceId: string;
}

/** The parts after a number, up to a limit. */
type PartsQuery = Pick<Request<"listParts">, "afterPartNumber" | "limit">;

const firstPart: PartsQuery = { afterPartNumber: 0, limit: 1 };

export async function createUpload(
  remote: RemoteContext,
  request: Omit<Request<"createUpload">, "method">,
): Promise<Result<"createUpload">> {
  const { key, http, custom, storageClass, ssecKeyMd5, ...requested } = request;
  const named = serviceKey(remote, key);
  validateMetadata(http, custom);
  const checksum = resolveUploadChecksum(requested);
  const { checksumAlgorithm, checksumType } = checksum;
  const version = randomHex(16);
  const uploaded = remote.now();
  const object = { version, uploaded, checksums: {}, http, custom, storageClass, ssecKeyMd5 };
  const answer = await remote.connection.send({
    method: "POST",
    key: named,
    query: [["uploads", ""]],
    headers: {
      ...packHeaders(object),
      ...(checksumAlgorithm !== undefined &&
        checksumType !== undefined && {
          "x-amz-checksum-algorithm": checksumAlgorithm.toUpperCase(),
          "x-amz-checksum-type": checksumTypeName(checksumType),
        }),
    },
    // An upload whose id was lost has no parts, and expires.
    isRepeatable: true,
  });
  const action = `create an upload of "${key}"`;
  const serviceId = childText(await readDocument(answer, action), "UploadId") ?? "";
  if (serviceId === "") {
    throw new RemoteError(
      "refused",
      `Cannot ${action}: the answer of the S3 service has no id of the upload.`,
    );
  }
  const properties: UploadProperties = {
    ...(ssecKeyMd5 !== undefined && { ssecKeyMd5 }),
    ...checksum,
    ...(storageClass !== "Standard" && { storageClass }),
  };
  return { uploadId: encodeUploadId(key, serviceId, properties) };
}

export async function uploadPart(
  remote: RemoteContext,
  request: Omit<Request<"uploadPart">, "method">,
): Promise<Result<"uploadPart">> {
  const { key, partNumber, content, checksum: expected, ssecKeyMd5 } = request;
  validatePartNumber(partNumber);
  const { upload, properties } = uploadOf(remote, request);
  let md5: string;
  try {
    requireSameKey(properties, ssecKeyMd5);
    md5 = checkContent(content, expected, uploadBytesMax).checksums.md5 as string;
  } catch (error) {
    // An upload that does not exist is the reason that callers get first.
    await readParts(remote, upload, firstPart);
    throw error;
  }
  const { checksumAlgorithm: algorithm } = properties;
  const known = algorithm === undefined ? undefined : content.checksums[algorithm];
  const { "x-amz-checksum-type": _, ...checksumHeader } =
    algorithm === undefined || known === undefined ? {} : checksumHeaders({ [algorithm]: known });
  const answer = await remote.connection.send({
    method: "PUT",
    key: upload.key,
    query: [
      ["partNumber", String(partNumber)],
      ["uploadId", upload.serviceId],
    ],
    headers: { "content-md5": hexToBase64(md5), ...checksumHeader },
    body: requestBody(content, remote.spool),
    isRepeatable: true,
  });
  await readExpected(answer, [200, 404], `upload part ${partNumber} of "${key}"`);
  if (answer.status === 404) throw new StoreError(10024);
  return { partNumber, etag: etagOf(answer.headers) || md5 };
}

export async function abortUpload(
  remote: RemoteContext,
  request: Omit<Request<"abortUpload">, "method">,
): Promise<null> {
  const { upload, isIssued } = uploadOf(remote, request);
  const answer = await remote.connection.send({
    method: "DELETE",
    key: upload.key,
    query: [["uploadId", upload.serviceId]],
    isRepeatable: true,
  });
  await readExpected(answer, [200, 204, 404], `abort an upload of "${request.key}"`);
  // An upload of ours that the service does not know was completed or aborted before.
  if (answer.status === 404 && !isIssued) throw new StoreError(10024);
  return null;
}

export async function listParts(
  remote: RemoteContext,
  request: Omit<Request<"listParts">, "method">,
): Promise<Result<"listParts">> {
  const { key, uploadId, afterPartNumber, limit } = request;
  validateLimit(limit);
  const { upload, properties } = uploadOf(remote, request);
  const page = await readParts(remote, upload, { afterPartNumber, limit });
  const { storageClass = "Standard", ssecKeyMd5: _, ...checksum } = properties;
  // The service does not say when the upload was created.
  const created = page.parts[0]?.uploaded ?? remote.now();
  return { ...page, upload: { key, uploadId, created, storageClass, ...checksum } };
}

/** @throws StoreError 10024 for an empty id: a request without the id would concern an object, or list objects */
function uploadOf(
  remote: RemoteContext,
  { key, uploadId }: { readonly key: string; readonly uploadId: string },
) {
  const named = serviceKey(remote, key);
  const { serviceId, ...identity } = decodeUploadId(key, uploadId);
  if (serviceId === "") throw new StoreError(10024);
  return { ...identity, upload: { key: named, serviceId } };
}

/** @throws StoreError 10024 for an upload that does not exist */
async function readParts(
  remote: RemoteContext,
  { key, serviceId }: ServiceUpload,
  { afterPartNumber, limit }: PartsQuery,
): Promise<{ parts: ListedPart[]; truncated: boolean }> {
  const answer = await remote.connection.send({
    method: "GET",
    key,
    query: [
      ["uploadId", serviceId],
      ["max-parts", String(limit)],
      ...(afterPartNumber > 0 ? [["part-number-marker", String(afterPartNumber)] as const] : []),
    ],
  });
  const action = "list the parts of an upload";
  if (answer.status === 404) {
    await readExpected(answer, [404], action);
    throw new StoreError(10024);
  }
  const document = await readDocument(answer, action);
  return {
    parts: childrenOf(document, "Part").map(parsePart),
    truncated: childText(document, "IsTruncated")?.trim() === "true",
  };
}

function parsePart(element: XmlElement): ListedPart {
  const etag = unquoted(childText(element, "ETag") ?? "");
  const checksums = Object.fromEntries(
    checksumsInElement(element).map(({ algorithm, hex }) => [algorithm, hex ?? undefined]),
  );
  return {
    partNumber: Number(childText(element, "PartNumber")),
    size: Number(childText(element, "Size")),
    etag,
    uploaded: Date.parse(childText(element, "LastModified") ?? "") || 0,
    checksums: { ...checksums, md5: etag },
  };
}

/** All parts, by their numbers. */
async function readAllParts(
  remote: RemoteContext,
  upload: ServiceUpload,
): Promise<Map<number, ListedPart>> {
  const parts = new Map<number, ListedPart>();
  let afterPartNumber = 0;
  for (;;) {
    const page = await readParts(remote, upload, { afterPartNumber, limit: listLimitMax });
    for (const part of page.parts) parts.set(part.partNumber, part);
    const last = page.parts.at(-1);
    if (!page.truncated || last === undefined) return parts;
    afterPartNumber = last.partNumber;
  }
}

/** An upload whose parts are selected. */
interface Completion {
  readonly key: string;
  readonly upload: ServiceUpload;
  readonly body: Uint8Array;
  /** That follows from the parts; empty where the service has other entity tags. */
  readonly etag: string;
  readonly onlyIf: Conditional | undefined;
}

export async function completeUpload(
  remote: RemoteContext,
  request: Omit<Request<"completeUpload">, "method">,
): Promise<EncodedObject> {
  const { key, parts: named, onlyIf, objectSize, checksum: expected } = request;
  for (const { partNumber } of named) validatePartNumber(partNumber);
  const { upload, properties } = uploadOf(remote, request);
  const stored = await readAllParts(remote, upload);
  const parts = selectParts(named, withNamedChecksums(stored, named));
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  if (objectSize !== undefined && objectSize !== size) {
    throw new StoreError(
      200002,
      `The provided 'x-amz-mp-object-size' header value ${objectSize} does not match what was ` +
        `computed: ${size}`,
    );
  }
  const { checksumAlgorithm } = properties;
  const checksums = checksumsOfUpload(properties, parts, expected);
  const hasChecksums = checksumAlgorithm !== undefined && checksumAlgorithm in checksums;
  const body = completionDocument(parts, hasChecksums);
  const etag = await writeCompletion(remote, {
    key,
    upload,
    body,
    etag: expectedEtag(parts),
    onlyIf,
  });
  const object = (await completedObject(remote, key, etag)) ?? {
    // The object was replaced before its properties were read, which are no longer known.
    key,
    version: etag,
    uploaded: remote.now(),
    size,
    etag,
    checksums: {},
    storageClass: properties.storageClass ?? "Standard",
    http: {},
    custom: {},
    ssecKeyMd5: properties.ssecKeyMd5,
  };
  return encodeObject({ ...object, checksums: { ...object.checksums, ...checksums } });
}

/** @returns the entity tag of the object */
async function writeCompletion(remote: RemoteContext, completion: Completion): Promise<string> {
  const { key, upload, onlyIf } = completion;
  let guard = await decideGuard(remote, key, onlyIf);
  let unknowns = 0;
  for (let conflicts = 0; conflicts < conflictsMax;) {
    const answer = await sendCompletion(remote, completion, guard).catch(unknownOutcome);
    if (!(answer instanceof RemoteError)) {
      conflicts++;
      if (answer !== "guarded" && answer !== "gone") return answer.written;
      if (answer === "gone" && unknowns === 0) throw new StoreError(10024);
    } else if (++unknowns > unknownsMax) throw uncertain("stored", answer);

    if (unknowns > 0 && !(await isInProgress(remote, upload))) {
      if ((await completedObject(remote, key, completion.etag)) !== null) return completion.etag;
      throw replaced("stored");
    }
    if (answer === "guarded") guard = await decideGuard(remote, key, onlyIf);
  }
  throw new StoreError(10058);
}

/** @throws StoreError 10031 when the condition does not hold */
async function decideGuard(
  remote: RemoteContext,
  key: string,
  condition: Conditional | undefined,
): Promise<Guard> {
  if (!remote.features.conditionalComplete) {
    if (condition === undefined) return null;
    throw new RemoteError(
      "refused",
      "Cannot complete an upload with a condition: the S3 service ignores conditions there. Complete " +
        "without a condition, or use a service that has conditional completion.",
    );
  }
  const object = await headObject(remote, key);
  if (condition !== undefined && !conditionHolds(condition, object)) throw new StoreError(10031);
  return guardOf(object);
}

async function sendCompletion(
  remote: RemoteContext,
  { key, upload, body, etag }: Completion,
  guard: Guard,
): Promise<WriteAnswer<string> | "gone"> {
  const answer = await remote.connection.send({
    method: "POST",
    key: upload.key,
    query: [["uploadId", upload.serviceId]],
    headers: {
      "content-type": "application/xml",
      ...requiredGuardHeaders(guard, remote.features),
    },
    body,
  });
  const action = `complete the upload of "${key}"`;
  const text = await readExpected(answer, [200, 404, 409, 412], action);
  if (answer.status === 200) return writtenIn(parseDocument(text), { etag, action });
  if (answer.status !== 404) return "guarded";
  return outcomeOf(readErrorDocument(text)?.code ?? "NoSuchUpload") ?? "gone";
}

async function isInProgress(remote: RemoteContext, upload: ServiceUpload): Promise<boolean> {
  try {
    await readParts(remote, upload, firstPart);
    return true;
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error instanceof RemoteError ? uncertain("stored", error) : error;
  }
}

/** The object, if it is that of the upload. */
async function completedObject(
  remote: RemoteContext,
  key: string,
  etag: string,
): Promise<NewObject | null> {
  const object = await headObject(remote, key);
  return object?.etag === etag ? object : null;
}

/** The document that completes an upload. */
function completionDocument(parts: readonly ListedPart[], hasChecksums: boolean): Uint8Array {
  const document = writeXml("CompleteMultipartUpload", {
    Part: parts.map(({ partNumber, etag, checksums }) => ({
      PartNumber: partNumber,
      ETag: `"${etag}"`,
      ...(hasChecksums && checksumElements(checksums)),
    })),
  });
  return new TextEncoder().encode(document);
}

/** Empty for parts whose entity tags are not MD5s: some services encrypt. */
function expectedEtag(parts: readonly ListedPart[]): string {
  return parts.every(({ etag }) => /^[0-9a-f]{32}$/.test(etag)) ? multipartEtag(parts) : "";
}

/** Errors after which the same request can succeed. */
const transientCodes = new Set([
  "InternalError",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
]);

/**
 * The outcome in the document of an answer with status 200, which a service sends before it joins the parts.
 *
 * @throws RemoteError
 */
function writtenIn(
  document: XmlElement | null,
  { etag, action }: { readonly etag: string; readonly action: string },
): WriteAnswer<string> | "gone" {
  const error = errorIn(document);
  if (document?.name === "CompleteMultipartUploadResult") {
    return { written: unquoted(childText(document, "ETag") ?? etag) };
  }
  if (error === null || transientCodes.has(error.code)) {
    const reason = error?.code ?? "an answer that broke off";
    throw new RemoteError("unknown", `Cannot ${action}: the S3 service answered with ${reason}.`);
  }
  const outcome = outcomeOf(error.code);
  if (outcome === null) throw refusalOf(error, action);
  return outcome;
}

/** What the code of an error says about the upload; `null`: the request is refused. */
function outcomeOf(code: string): "guarded" | "gone" | null {
  if (code === "PreconditionFailed" || code === "ConditionalRequestConflict") return "guarded";
  // With `If-Match`, and without an object that could match.
  if (code === "NoSuchKey") return "guarded";
  return code === "NoSuchUpload" ? "gone" : null;
}

/**
 * The parts, with the checksums that the caller names where the service keeps none: the content of each
 * part was verified when the part was uploaded.
 */
function withNamedChecksums(
  stored: ReadonlyMap<number, ListedPart>,
  named: Request<"completeUpload">["parts"],
): Map<number, ListedPart> {
  const parts = new Map(stored);
  for (const { partNumber, checksums } of named) {
    const part = parts.get(partNumber);
    if (part === undefined) continue;
    parts.set(partNumber, { ...part, checksums: { ...checksums, ...part.checksums } });
  }
  return parts;
}
