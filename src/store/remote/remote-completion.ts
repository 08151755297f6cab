/**
 * Completes multipart uploads on an S3 service.
 *
 * Our own rules select the parts. When the answer to the request gets lost, the upload tells whether it was
 * completed: the service no longer knows it, and the object has the entity tag that follows from the parts.
 */
import { childText, type XmlElement } from "../../http/xml.ts";
import { conditionHolds, type Conditional } from "../core/conditional.ts";
import { StoreError } from "../core/errors.ts";
import {
  multipartEtag,
  selectParts,
  validatePartNumber,
  type ListedPart,
} from "../core/multipart.ts";
import type { NewObject } from "../core/object-encoding.ts";
import type { EncodedObject, Request } from "../core/operations.ts";
import { checksumsOfUpload } from "../core/upload-checksum.ts";
import { errorIn, parseDocument, readErrorDocument } from "./error-document.ts";
import {
  conflictsMax,
  guardOf,
  replaced,
  requiredGuardHeaders,
  uncertain,
  unknownOutcome,
  unknownsMax,
  type Guard,
  type WriteAnswer,
} from "./guarded-write.ts";
import { RemoteError } from "./remote-error.ts";
import type { RemoteFeatures } from "./remote-features.ts";
import { encodeObject, unquoted } from "./remote-object.ts";
import type { RemotePlatform } from "./remote-puts.ts";
import type { RemoteReads } from "./remote-reads.ts";
import type { S3Connection } from "./s3-connection.ts";
import { readText, refusalOf, refuseAnswer } from "./service-answer.ts";
import { serviceKey } from "./service-key.ts";
import {
  completionDocument,
  readAllParts,
  readParts,
  type ServiceUpload,
} from "./service-uploads.ts";
import { decodeUploadId, type UploadProperties } from "./upload-identity.ts";

/** An upload whose parts are selected. */
interface Completion {
  readonly key: string;
  readonly upload: ServiceUpload;
  readonly body: Uint8Array;
  /** That follows from the parts; empty where the service has other entity tags. */
  readonly etag: string;
  readonly onlyIf?: Conditional;
}

export class RemoteCompletion {
  readonly #connection: S3Connection;
  readonly #prefix: string;
  readonly #features: RemoteFeatures;
  readonly #reads: RemoteReads;
  readonly #platform: RemotePlatform;

  constructor(options: {
    readonly connection: S3Connection;
    readonly prefix: string;
    readonly features: RemoteFeatures;
    readonly reads: RemoteReads;
    readonly platform: RemotePlatform;
  }) {
    this.#connection = options.connection;
    this.#prefix = options.prefix;
    this.#features = options.features;
    this.#reads = options.reads;
    this.#platform = options.platform;
  }

  async complete(request: Omit<Request<"completeUpload">, "method">): Promise<EncodedObject> {
    const { key, uploadId, parts: named, onlyIf, objectSize, checksum: expected } = request;
    const keyOfService = serviceKey(this.#prefix, key);
    for (const { partNumber } of named) validatePartNumber(partNumber);
    const { serviceId, properties } = decodeUploadId(key, uploadId);
    const upload = { key: keyOfService, serviceId };
    const stored = await readAllParts(this.#connection, upload);
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
    const etag = await this.#write({
      key,
      upload,
      body: completionDocument(parts, { hasChecksums }),
      etag: expectedEtag(parts),
      ...(onlyIf !== undefined && { onlyIf }),
    });
    const object =
      (await this.#completed(key, etag)) ?? this.#described(key, etag, size, properties);
    return encodeObject({ ...object, checksums: { ...object.checksums, ...checksums } });
  }

  /** @returns the entity tag of the object */
  async #write(completion: Completion): Promise<string> {
    const { key, upload, onlyIf } = completion;
    let guard = await this.#decide(key, onlyIf);
    let unknowns = 0;
    for (let conflicts = 0; conflicts < conflictsMax;) {
      const answer = await this.#send(completion, guard).catch(unknownOutcome);
      if (!(answer instanceof RemoteError)) {
        conflicts++;
        if (answer !== "guarded" && answer !== "gone") return answer.written;
        if (answer === "gone" && unknowns === 0) throw new StoreError(10024);
      } else if (++unknowns > unknownsMax) throw uncertain("stored", answer);

      if (unknowns > 0 && !(await this.#isInProgress(upload))) {
        if ((await this.#completed(key, completion.etag)) !== null) return completion.etag;
        throw replaced("stored");
      }
      if (answer === "guarded") guard = await this.#decide(key, onlyIf);
    }
    throw new StoreError(10058);
  }

  /** @throws StoreError 10031 when the condition does not hold */
  async #decide(key: string, condition: Conditional | undefined): Promise<Guard> {
    if (!this.#features.conditionalComplete) {
      if (condition === undefined) return null;
      throw new RemoteError(
        "refused",
        "Cannot complete an upload with a condition: the S3 service ignores conditions there. Complete " +
          "without a condition, or use a service that has conditional completion.",
      );
    }
    const object = await this.#reads.head(key);
    if (condition !== undefined && !conditionHolds(condition, object)) throw new StoreError(10031);
    return guardOf(object);
  }

  async #send(
    { key, upload, body, etag }: Completion,
    guard: Guard,
  ): Promise<WriteAnswer<string> | "gone"> {
    const answer = await this.#connection.send({
      method: "POST",
      key: upload.key,
      query: [["uploadId", upload.serviceId]],
      headers: {
        "content-type": "application/xml",
        ...requiredGuardHeaders(guard, this.#features),
      },
      body,
    });
    const action = `complete the upload of "${key}"`;
    if (answer.status === 200) {
      return writtenIn(parseDocument(await readText(answer)), { etag, action });
    }
    if (answer.status === 409 || answer.status === 412) {
      await readText(answer);
      return "guarded";
    }
    if (answer.status !== 404) return refuseAnswer(answer, action);
    const code = readErrorDocument(await readText(answer))?.code;
    return outcomeOf(code ?? "NoSuchUpload") ?? "gone";
  }

  async #isInProgress(upload: ServiceUpload): Promise<boolean> {
    try {
      await readParts(this.#connection, upload, { afterPartNumber: 0, limit: 1 });
      return true;
    } catch (error) {
      if (error instanceof StoreError) return false;
      throw error instanceof RemoteError ? uncertain("stored", error) : error;
    }
  }

  /** The object, if it is that of the upload. */
  async #completed(key: string, etag: string): Promise<NewObject | null> {
    const object = await this.#reads.head(key);
    return object?.etag === etag ? object : null;
  }

  /** The object was replaced before its properties were read, which are no longer known. */
  #described(key: string, etag: string, size: number, properties: UploadProperties): NewObject {
    const { ssecKeyMd5, storageClass = "Standard" } = properties;
    return {
      key,
      version: etag,
      uploaded: this.#platform.now(),
      size,
      etag,
      checksums: {},
      storageClass,
      http: {},
      custom: {},
      ...(ssecKeyMd5 !== undefined && { ssecKeyMd5 }),
    };
  }
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
