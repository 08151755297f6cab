/**
 * Multipart uploads on an S3 service: parts are parts of the service. The properties of the object are
 * packed when the upload is created, so its version and its time are those of the creation. The condition of the
 * creation is in the id of the upload, and holds at the completion, too: no service keeps it.
 *
 * Our own rules select the parts of a completion. When the answer to the completion gets lost, the upload
 * tells whether it was completed: the service no longer knows it, and the object has the entity tag that
 * follows from the parts.
 */
import { hexToBase64 } from "../../base/hex.ts";
import { randomHex } from "../../base/random-hex.ts";
import { checksumElements, checksumHeaders, checksumsInElement } from "../../http/headers.ts";
import { childrenOf, childText, type XmlElement, writeXml } from "../../http/xml.ts";
import { checksumsOfUpload, checksumTypeName, resolveUploadChecksum } from "../core/checksum.ts";
import { conditionHolds, type Conditional } from "../core/conditional.ts";
import { checkContent } from "../core/content.ts";
import { StoreError } from "../core/errors.ts";
import { listLimitMax, uploadBytesMax } from "../core/limits.ts";
import { validateLimit } from "../core/list-page.ts";
import { requireSameKey, validateMetadata } from "../core/metadata.ts";
import {
  multipartEtag,
  selectParts,
  validatePartNumber,
  type ListedPart,
} from "../core/multipart.ts";
import type { EncodedObject, Request, Result, UploadReference } from "../core/operations.ts";
import { completedEtag, requireDeleted, storedEtag, successStatuses } from "./acknowledgement.ts";
import { serviceKey, type RemoteContext } from "./remote-context.ts";
import {
  decodeUploadId,
  encodeObject,
  encodeUploadId,
  packHeaders,
  unquoted,
  type UploadProperties,
} from "./remote-object.ts";
import { headObject } from "./remote-reads.ts";
import {
  guardedWrite,
  lostAnswer,
  LostAnswers,
  replaced,
  requestBody,
  requiredGuardHeaders,
  uncertain,
  type Guard,
  type WriteAnswer,
} from "./remote-writes.ts";
import {
  errorIn,
  isTruncated,
  parseDocument,
  refusalOf,
  requireDocument,
  type S3Result,
} from "./s3-answer.ts";
import type { S3Request } from "./s3-connection.ts";
import { RemoteError } from "./s3-transport.ts";

/** An upload, by the key and the id that the service knows. */
interface ServiceUpload {
  readonly key: string;
  readonly serviceId: string;
}

type PartsQuery = Pick<Request<"listParts">, "afterPartNumber" | "limit">;

const firstPart: PartsQuery = { afterPartNumber: 0, limit: 1 };

export async function createUpload(
  remote: RemoteContext,
  request: Omit<Request<"createUpload">, "method">,
): Promise<Result<"createUpload">> {
  const { key, http, custom, storageClass, ssecKeyMd5, onlyIf, ...requested } = request;
  const named = serviceKey(remote, key);
  validateMetadata(http, custom);
  const checksum = resolveUploadChecksum(requested);
  if (onlyIf !== undefined) await requireCondition(remote, key, onlyIf);
  const { checksumAlgorithm, checksumType } = checksum;
  const version = randomHex(16);
  const uploaded = remote.now();
  const object = { version, uploaded, checksums: {}, http, custom, storageClass, ssecKeyMd5 };
  const action = `create an upload of "${key}"`;
  const { text } = await remote.connection.exchange(
    {
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
    },
    action,
  );
  const serviceId = childText(requireDocument(text, undefined, "unknown"), "UploadId") ?? "";
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
    ...(onlyIf !== undefined && { onlyIf }),
  };
  return { uploadId: encodeUploadId(key, serviceId, properties) };
}

/** A longer condition would make an id that does not fit into a URL. One entity tag takes 120 characters. */
const conditionLengthMax = 1024;

/** @throws StoreError 10031, RemoteError for a condition that the completion could not honour */
async function requireCondition(
  remote: RemoteContext,
  key: string,
  onlyIf: Conditional,
): Promise<void> {
  requireConditions(remote);
  if (JSON.stringify(onlyIf).length > conditionLengthMax) {
    throw new RemoteError(
      "refused",
      `Cannot create an upload of "${key}" with so many entity tags: the condition is a part of the upload's id, ` +
        "which would be too long for a URL. Name fewer entity tags.",
      { reason: "unsupported" },
    );
  }
  if (!conditionHolds(onlyIf, await headObject(remote, key))) throw new StoreError(10031);
}

function requireConditions({ features }: RemoteContext): void {
  if (features.conditionalComplete) return;
  throw new RemoteError(
    "refused",
    "Cannot complete an upload with a condition: the S3 service ignores conditions there. Create " +
      "and complete the upload without a condition, or use a service that has conditional completion.",
    { reason: "unsupported" },
  );
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
    checkContent(content, expected, uploadBytesMax);
    md5 = content.checksums.md5 as string;
  } catch (error) {
    // An upload that does not exist is the reason that callers get first.
    await readParts(remote, upload, firstPart);
    throw error;
  }
  const { checksumAlgorithm: algorithm } = properties;
  const known = algorithm === undefined ? undefined : content.checksums[algorithm];
  const { "x-amz-checksum-type": _, ...checksumHeader } =
    algorithm === undefined || known === undefined ? {} : checksumHeaders({ [algorithm]: known });
  const action = `upload part ${partNumber} of "${key}"`;
  const answer = await remote.connection.exchange(
    {
      method: "PUT",
      key: upload.key,
      query: [
        ["partNumber", String(partNumber)],
        ["uploadId", upload.serviceId],
      ],
      headers: { "content-md5": hexToBase64(md5), ...checksumHeader },
      body: requestBody(content, remote.spool),
      isRepeatable: true,
    },
    action,
    [...successStatuses, 404],
  );
  if (isUnknownUpload(answer, action)) throw new StoreError(10024);
  return { partNumber, etag: storedEtag(answer, remote.features.etagIsMd5 ? md5 : null, action) };
}

export async function abortUpload(
  remote: RemoteContext,
  request: Omit<Request<"abortUpload">, "method">,
): Promise<null> {
  const { upload, isIssued } = uploadOf(remote, request);
  const action = `abort an upload of "${request.key}"`;
  const answer = await remote.connection.exchange(
    {
      method: "DELETE",
      key: upload.key,
      query: [["uploadId", upload.serviceId]],
      isRepeatable: true,
    },
    action,
    [...successStatuses, 404],
  );
  requireDeleted(answer, "NoSuchUpload", action);
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
  const { storageClass = "Standard", ssecKeyMd5: _, onlyIf: __, ...checksum } = properties;
  // The service does not say when the upload was created.
  const created = page.parts[0]?.uploaded ?? remote.now();
  return { ...page, upload: { key, uploadId, created, storageClass, ...checksum } };
}

/** @throws StoreError 10024 for an empty id: a request without the id would concern an object, or list objects */
function uploadOf(remote: RemoteContext, { key, uploadId }: UploadReference) {
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
  const action = "list the parts of an upload";
  const answer = await remote.connection.exchange(
    {
      method: "GET",
      key,
      query: [
        ["uploadId", serviceId],
        ["max-parts", String(limit)],
        ...(afterPartNumber > 0 ? [["part-number-marker", String(afterPartNumber)] as const] : []),
      ],
    },
    action,
    [200, 404],
  );
  if (isUnknownUpload(answer, action)) throw new StoreError(10024);
  const document = requireDocument(answer.text, "ListPartsResult");
  return {
    parts: childrenOf(document, "Part").map(parsePart),
    truncated: isTruncated(document),
  };
}

/** @throws RemoteError for an answer 404 that does not say that the upload is missing */
function isUnknownUpload({ status, error }: S3Result, action: string): boolean {
  if (status !== 404) return false;
  // Ceph says NoSuchKey when parts are listed.
  if (error?.code === "NoSuchUpload" || error?.code === "NoSuchKey") return true;
  throw refusalOf(error ?? { code: "status 404 without a reason", message: "" }, action);
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

export async function completeUpload(
  remote: RemoteContext,
  request: Omit<Request<"completeUpload">, "method">,
): Promise<EncodedObject> {
  const { key, parts: named, onlyIf, objectSize } = request;
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
  const checksums = checksumsOfUpload(properties, parts, request);
  const hasChecksums = checksumAlgorithm !== undefined && checksumAlgorithm in checksums;
  const conditions = [properties.onlyIf, onlyIf].filter((condition) => condition !== undefined);
  if (conditions.length > 0) requireConditions(remote);
  const body = completionDocument(parts, hasChecksums);
  const etag = await guardedWrite({
    ...remote,
    effect: "stored",
    holds: (seen) => conditions.every((condition) => conditionHolds(condition, seen)),
    head: () => headObject(remote, key),
    write: completionOf(remote, { key, upload, body, etag: expectedEtag(parts) }),
    resultIn: () => null,
  });
  if (etag === null) throw new StoreError(10031);
  // The upload is completed, whether its object can be read or not.
  const found = await headObject(remote, key).catch(() => null);
  const object =
    found?.etag === etag
      ? found
      : {
          // The object was replaced before its properties were read, or they cannot be read.
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

interface Completion {
  readonly key: string;
  readonly upload: ServiceUpload;
  readonly body: Uint8Array;
  /** That follows from the parts; empty where the service has other entity tags. */
  readonly etag: string;
}

/** Sends the completion. After a lost answer, the upload tells whether the completion was executed. */
function completionOf(remote: RemoteContext, completion: Completion) {
  const lost = new LostAnswers();
  const attempts = { failed: 0 };
  return async (guard: Guard): Promise<WriteAnswer<string>> => {
    const answer = await sendCompletion(remote, { ...completion, attempts }, guard).catch(
      lostAnswer,
    );
    if (answer instanceof RemoteError) lost.add(answer);
    else if (answer !== "guarded" && answer !== "gone") return answer;
    else if (lost.error === null) {
      if (answer === "gone") throw new StoreError(10024);
      return answer;
    }
    const { key, upload, etag } = completion;
    if (await isInProgress(remote, upload).catch(throwUncertain)) {
      if (!lost.isOver || lost.error === null) return "guarded";
      throw lost.isUnknown ? uncertain("stored", lost.error) : lost.error;
    }
    const found = await headObject(remote, key).catch(throwUncertain);
    if (found?.etag === etag) return { written: etag };
    // Another client has aborted the upload, or has deleted the object since.
    throw replaced(
      "stored",
      found,
      found === null ? "neither the upload nor an object" : undefined,
    );
  };
}

function throwUncertain(error: unknown): never {
  throw error instanceof RemoteError ? uncertain("stored", error) : error;
}

/** Codes of a guard that does not hold; `NoSuchKey`: with `If-Match`, without an object that could match. */
const guardedCodes = new Set(["PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey"]);
/** Errors after which the same request can succeed. */
const transientCodes = new Set([
  "InternalError",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
]);

/** @returns `gone` for an upload that does not exist */
async function sendCompletion(
  { connection, features }: RemoteContext,
  { key, upload, body, etag, attempts }: Completion & Pick<S3Request, "attempts">,
  guard: Guard,
): Promise<WriteAnswer<string> | "gone"> {
  const guarding = features.conditionalComplete ? requiredGuardHeaders(guard, features) : {};
  const action = `complete the upload of "${key}"`;
  const answer = await connection.exchange(
    {
      method: "POST",
      key: upload.key,
      query: [["uploadId", upload.serviceId]],
      headers: { "content-type": "application/xml", ...guarding },
      body,
      attempts,
    },
    action,
    [...successStatuses, 404, 409, 412],
  );
  const { status } = answer;
  const document = parseDocument(answer.text);
  if (status === 200 && document?.name === "CompleteMultipartUploadResult") {
    const expected = features.etagIsMd5 && etag !== "" ? etag : null;
    return { written: completedEtag(childText(document, "ETag"), expected, action) };
  }
  // A service sends status 200 before it joins the parts: the error is in the document.
  const error = errorIn(document);
  if (status === 409 || status === 412 || guardedCodes.has(error?.code ?? "")) return "guarded";
  if (error?.code === "NoSuchUpload") return "gone";
  if (error !== null && !transientCodes.has(error.code)) throw refusalOf(error, action);
  const reason = error?.code ?? "an answer that broke off";
  throw new RemoteError("unknown", `Cannot ${action}: the S3 service answered with ${reason}.`);
}

async function isInProgress(remote: RemoteContext, upload: ServiceUpload): Promise<boolean> {
  try {
    await readParts(remote, upload, firstPart);
    return true;
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
  }
}

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
