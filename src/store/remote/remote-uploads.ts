/**
 * Multipart uploads on an S3 service: parts are parts of the service. The properties of the object are
 * packed when the upload is created, so its version and its time are those of the creation.
 */
import { checksumHeaders, checksumTypeName, hexToBase64 } from "../../http/headers.ts";
import { childText } from "../../http/xml.ts";
import { checkContent } from "../core/checked-content.ts";
import { uploadBytesMax } from "../core/limits.ts";
import { requireSameKey } from "../core/customer-key.ts";
import { StoreError } from "../core/errors.ts";
import { validateMetadata } from "../core/http-metadata.ts";
import { validateLimit } from "../core/list-page.ts";
import { validatePartNumber } from "../core/multipart.ts";
import type { Request, Result } from "../core/operations.ts";
import { resolveUploadChecksum } from "../core/upload-checksum.ts";
import { packHeaders } from "./packed-header.ts";
import { RemoteError } from "./remote-error.ts";
import { etagOf } from "./remote-object.ts";
import { requestBody, type RemotePlatform } from "./remote-puts.ts";
import type { S3Connection } from "./s3-connection.ts";
import { readDocument, readText, refuseAnswer } from "./service-answer.ts";
import { serviceKey } from "./service-key.ts";
import { readParts } from "./service-uploads.ts";
import type { Spool } from "./spool.ts";
import { decodeUploadId, encodeUploadId, type UploadProperties } from "./upload-identity.ts";

export class RemoteUploads {
  readonly #connection: S3Connection;
  readonly #prefix: string;
  readonly #spool: Spool;
  readonly #platform: RemotePlatform;

  constructor(options: {
    readonly connection: S3Connection;
    readonly prefix: string;
    readonly spool: Spool;
    readonly platform: RemotePlatform;
  }) {
    this.#connection = options.connection;
    this.#prefix = options.prefix;
    this.#spool = options.spool;
    this.#platform = options.platform;
  }

  async create(request: Omit<Request<"createUpload">, "method">): Promise<Result<"createUpload">> {
    const { key, http, custom, storageClass, ssecKeyMd5, ...requested } = request;
    const named = serviceKey(this.#prefix, key);
    validateMetadata(http, custom);
    const checksum = resolveUploadChecksum(requested);
    const keyed = ssecKeyMd5 === undefined ? {} : { ssecKeyMd5 };
    const { checksumAlgorithm, checksumType } = checksum;
    const answer = await this.#connection.send({
      method: "POST",
      key: named,
      query: [["uploads", ""]],
      headers: {
        ...packHeaders({
          version: this.#platform.randomHex(16),
          uploaded: this.#platform.now(),
          checksums: {},
          http,
          custom,
          storageClass,
          ...keyed,
        }),
        ...(checksumAlgorithm !== undefined &&
          checksumType !== undefined && {
            "x-amz-checksum-algorithm": checksumAlgorithm.toUpperCase(),
            "x-amz-checksum-type": checksumTypeName(checksumType),
          }),
      },
      // An upload whose id was lost has no parts, and expires.
      isRepeatable: true,
    });
    if (answer.status !== 200) return refuseAnswer(answer, `create an upload of "${key}"`);
    const serviceId = childText(await readDocument(answer), "UploadId") ?? "";
    if (serviceId === "") {
      throw new RemoteError(
        "refused",
        `Cannot create an upload of "${key}": the answer of the S3 service has no id of the upload.`,
      );
    }
    const properties: UploadProperties = {
      ...keyed,
      ...checksum,
      ...(storageClass !== "Standard" && { storageClass }),
    };
    return { uploadId: encodeUploadId(key, serviceId, properties) };
  }

  async uploadPart(request: Omit<Request<"uploadPart">, "method">): Promise<Result<"uploadPart">> {
    const { key, uploadId, partNumber, content, checksum: expected, ssecKeyMd5 } = request;
    const named = serviceKey(this.#prefix, key);
    validatePartNumber(partNumber);
    const { serviceId, properties } = decodeUploadId(key, uploadId);
    const upload = { key: named, serviceId };
    // A request without the id would store an object.
    if (serviceId === "") throw new StoreError(10024);
    let md5: string;
    try {
      requireSameKey(properties, ssecKeyMd5);
      md5 = checkContent(content, expected, uploadBytesMax).checksums.md5 as string;
    } catch (error) {
      // An upload that does not exist is the reason that callers get first.
      await readParts(this.#connection, upload, { afterPartNumber: 0, limit: 1 });
      throw error;
    }
    const { checksumAlgorithm: algorithm } = properties;
    const known = algorithm === undefined ? undefined : content.checksums[algorithm];
    const { "x-amz-checksum-type": _, ...checksumHeader } =
      algorithm === undefined || known === undefined ? {} : checksumHeaders({ [algorithm]: known });
    const answer = await this.#connection.send({
      method: "PUT",
      key: named,
      query: [
        ["partNumber", String(partNumber)],
        ["uploadId", serviceId],
      ],
      headers: { "content-md5": hexToBase64(md5), ...checksumHeader },
      body: requestBody(content, this.#spool),
      isRepeatable: true,
    });
    if (answer.status === 404) {
      await readText(answer);
      throw new StoreError(10024);
    }
    if (answer.status !== 200) return refuseAnswer(answer, `upload part ${partNumber} of "${key}"`);
    await readText(answer);
    return { partNumber, etag: etagOf(answer.headers) || md5 };
  }

  async abort({ key, uploadId }: Omit<Request<"abortUpload">, "method">): Promise<null> {
    const named = serviceKey(this.#prefix, key);
    const { serviceId, isIssued } = decodeUploadId(key, uploadId);
    // A request without the id would delete an object.
    if (serviceId === "") throw new StoreError(10024);
    const answer = await this.#connection.send({
      method: "DELETE",
      key: named,
      query: [["uploadId", serviceId]],
      isRepeatable: true,
    });
    if (answer.status === 404) {
      await readText(answer);
      // The upload was completed or aborted before.
      if (isIssued) return null;
      throw new StoreError(10024);
    }
    if (answer.status !== 200 && answer.status !== 204) {
      return refuseAnswer(answer, `abort an upload of "${key}"`);
    }
    await readText(answer);
    return null;
  }

  async listParts(request: Omit<Request<"listParts">, "method">): Promise<Result<"listParts">> {
    const { key, uploadId, afterPartNumber, limit } = request;
    validateLimit(limit);
    const { serviceId, properties } = decodeUploadId(key, uploadId);
    const upload = { key: serviceKey(this.#prefix, key), serviceId };
    const page = await readParts(this.#connection, upload, { afterPartNumber, limit });
    const { storageClass = "Standard", ssecKeyMd5: _, ...checksum } = properties;
    // The service does not say when the upload was created.
    const created = page.parts[0]?.uploaded ?? this.#platform.now();
    return {
      parts: page.parts,
      truncated: page.isTruncated,
      upload: { key, uploadId, created, storageClass, ...checksum },
    };
  }
}
