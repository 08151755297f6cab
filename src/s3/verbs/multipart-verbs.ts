/** Verbs of multipart uploads, and both of their lists. */
import { checksumElements, checksumHeaders, checksumTypeOf } from "../../http/headers.ts";
import { encodeComponent } from "../../http/uri.ts";
import { childrenOf, childText, type XmlElement, type XmlElements } from "../../http/xml.ts";
import { checksumTypeName, type UploadChecksum } from "../../store/core/checksum.ts";
import { StoreError } from "../../store/core/errors.ts";
import { listLimitMax, partNumberMax } from "../../store/core/limits.ts";
import type { CompletedPart } from "../../store/core/multipart.ts";
import { decodeObject, allChecksums } from "../../store/core/object.ts";
import type { StorageClass } from "../../store/core/operations.ts";
import { receiveContent } from "../request-body.ts";
import {
  parseChecksumHeader,
  parseChecksumType,
  parsePartChecksums,
  parseUploadChecksum,
} from "../request-checksum.ts";
import {
  parseConditions,
  parseCopyRange,
  parsePartNumber,
  customerKeyHeaders,
  parseCustomerKey,
  parseDescription,
  storageClassName,
} from "../object-headers.ts";
import { S3Error } from "../s3-errors.ts";
import {
  owner,
  parseDocument,
  wholeParameter,
  xmlResponse,
  type S3Request,
  type BucketVerbFunction,
} from "../s3-message.ts";
import { encoderOf } from "./list-verbs.ts";
import { copySource, usualClass } from "./object-verbs.ts";

/** The upload that the query names. Routes lead to a verb only if there is one. */
function uploadOf({ key, parameters }: S3Request): { key: string; uploadId: string } {
  return { key, uploadId: parameters.get("uploadId") as string };
}

export const multipartVerbs = {
  async CreateMultipartUpload(request, bucket, service) {
    const { bucketName, key, headers } = request;
    const checksum = parseUploadChecksum(headers);
    const description = parseDescription(headers, usualClass(request, service));
    const onlyIf = parseConditions(headers);
    const upload = { method: "createUpload", key, ...description, ...checksum, onlyIf } as const;
    const { uploadId } = await bucket.call(upload);
    const { checksumAlgorithm, checksumType } = checksum;
    return xmlResponse(
      "InitiateMultipartUploadResult",
      { Bucket: bucketName, Key: key, UploadId: uploadId },
      {
        ...customerKeyHeaders(description),
        "x-amz-checksum-algorithm": checksumAlgorithm?.toUpperCase(),
        "x-amz-checksum-type": checksumType && checksumTypeName(checksumType),
      },
    );
  },

  async UploadPart(request, bucket) {
    const partNumber = parsePartNumber(request.parameters);
    const customerKey = parseCustomerKey(request.headers);
    const received = await receiveContent(bucket, request.body);
    const { etag } = await bucket.call({
      method: "uploadPart",
      ...uploadOf(request),
      partNumber,
      ...received,
      ...customerKey,
    });
    return {
      status: 200,
      headers: {
        etag: `"${etag}"`,
        ...checksumHeaders(received.content.checksums),
        "x-amz-checksum-type": undefined,
        ...customerKeyHeaders(customerKey),
      },
    };
  },

  async UploadPartCopy(request, bucket, service) {
    const { headers } = request;
    const partNumber = parsePartNumber(request.parameters);
    const header = headers.get("x-amz-copy-source-range");
    const range = header === undefined ? undefined : parseCopyRange(header);
    const customerKey = parseCustomerKey(headers);
    // Only in buckets with `s3_compatibility = "aws"`.
    const onlyIf = parseConditions(headers, "x-amz-copy-source-");
    const reference = uploadOf(request);
    const { upload } = await bucket.call({
      method: "listParts",
      ...reference,
      afterPartNumber: 0,
      limit: 1,
    });
    const { checksumAlgorithm } = upload;
    const algorithms = checksumAlgorithm === undefined ? [] : [checksumAlgorithm];
    const { content } = await copySource(request, bucket, service, { range, onlyIf }, algorithms);
    const { etag } = await bucket.call({
      method: "uploadPart",
      ...reference,
      partNumber,
      content,
      ...customerKey,
    });
    return xmlResponse(
      "CopyPartResult",
      {
        ETag: `"${etag}"`,
        // The part was stored in this second; the operation does not say when.
        LastModified: new Date().toISOString(),
        ...checksumElements(content.checksums),
      },
      customerKeyHeaders(customerKey),
    );
  },

  async CompleteMultipartUpload(request, bucket) {
    const { bucketName, key, headers, body, bucketUrl } = request;
    const onlyIf = parseConditions(headers);
    const checksum = parseChecksumHeader(headers);
    const checksumType = parseChecksumType(headers);
    const objectSize = parseObjectSize(headers.get("x-amz-mp-object-size"));
    const document = parseDocument(await body.document("object"), "CompleteMultipartUpload");
    const parts = childrenOf(document, "Part").map(parsePart);
    if (parts.length === 0) throw new S3Error("MalformedXML");
    const stored = await bucket.call({
      method: "completeUpload",
      ...uploadOf(request),
      parts,
      onlyIf,
      objectSize,
      checksum,
      checksumType,
    });
    const object = decodeObject(key, stored);
    const checksums = allChecksums(object);
    return xmlResponse("CompleteMultipartUploadResult", {
      Location: `${bucketUrl}/${encodeComponent(key)}`,
      Bucket: bucketName,
      Key: key,
      ETag: `"${object.etag}"`,
      ...checksumElements(checksums),
      ChecksumType: checksumTypeOf(checksums),
    });
  },

  async AbortMultipartUpload(request, bucket) {
    await bucket.call({ method: "abortUpload", ...uploadOf(request) });
    return { status: 204 };
  },

  async ListParts(request, bucket) {
    const maxParts = wholeParameter(request, "max-parts", listLimitMax);
    const afterPartNumber = wholeParameter(request, "part-number-marker", partNumberMax, 0);
    const reference = uploadOf(request);
    const page = await bucket.call({
      method: "listParts",
      ...reference,
      afterPartNumber,
      limit: Math.max(maxParts, 1),
    });
    // A page of 0 parts is the last, as a page of 0 keys.
    const { parts, truncated } = maxParts === 0 ? { parts: [], truncated: false } : page;
    return xmlResponse("ListPartsResult", {
      Bucket: request.bucketName,
      Key: request.key,
      UploadId: reference.uploadId,
      PartNumberMarker: afterPartNumber,
      NextPartNumberMarker: parts.at(-1)?.partNumber,
      MaxParts: maxParts,
      IsTruncated: truncated,
      Part: parts.map((part) => ({
        PartNumber: part.partNumber,
        LastModified: new Date(part.uploaded).toISOString(),
        ETag: `"${part.etag}"`,
        Size: part.size,
        ...checksumElements(part.checksums),
      })),
      ...uploadElements(page.upload),
    });
  },

  async ListMultipartUploads(request, bucket) {
    const { parameters } = request;
    const prefix = parameters.get("prefix") ?? "";
    const delimiter = parameters.get("delimiter") ?? "";
    const keyMarker = parameters.get("key-marker") ?? "";
    const uploadIdMarker = parameters.get("upload-id-marker") ?? "";
    const encodingType = parameters.get("encoding-type");
    const encode = encoderOf(encodingType);
    const maxUploads = wholeParameter(request, "max-uploads", listLimitMax);
    const page =
      maxUploads === 0
        ? { uploads: [], prefixes: [], truncated: false, next: undefined }
        : await bucket.call({
            method: "listUploads",
            prefix,
            delimiter: delimiter || undefined,
            after:
              keyMarker === ""
                ? undefined
                : { key: keyMarker, uploadId: uploadIdMarker || undefined },
            limit: maxUploads,
          });
    return xmlResponse("ListMultipartUploadsResult", {
      Bucket: request.bucketName,
      KeyMarker: encode(keyMarker),
      UploadIdMarker: uploadIdMarker,
      NextKeyMarker: page.next && encode(page.next.key),
      NextUploadIdMarker: page.next?.uploadId,
      Prefix: encode(prefix),
      Delimiter: delimiter === "" ? undefined : encode(delimiter),
      MaxUploads: maxUploads,
      IsTruncated: page.truncated,
      EncodingType: encodingType,
      Upload: page.uploads.map((upload) => ({
        Key: encode(upload.key),
        UploadId: upload.uploadId,
        Initiated: new Date(upload.created).toISOString(),
        ...uploadElements(upload),
      })),
      CommonPrefixes: page.prefixes.map((each) => ({ Prefix: encode(each) })),
    });
  },
} satisfies Record<string, BucketVerbFunction>;

function parseObjectSize(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new S3Error("InvalidRequest", "Value for x-amz-mp-object-size header is invalid.");
}

function parsePart(element: XmlElement): CompletedPart {
  const number = childText(element, "PartNumber")?.trim() ?? "";
  const etag = childText(element, "ETag");
  if (!/^-?\d{1,9}$/.test(number) || etag === null) throw new S3Error("MalformedXML");
  const partNumber = Number(number);
  // A part with such a number cannot have been uploaded.
  if (partNumber < 1 || partNumber > partNumberMax) throw new StoreError(10025);
  const checksums = parsePartChecksums(element);
  return { partNumber, etag: etag.trim().replace(/^"(.*)"$/, "$1"), checksums };
}

function uploadElements(
  upload: UploadChecksum & { readonly storageClass: StorageClass },
): XmlElements {
  return {
    Initiator: owner,
    Owner: owner,
    StorageClass: storageClassName(upload.storageClass),
    ChecksumAlgorithm: upload.checksumAlgorithm?.toUpperCase(),
    ChecksumType: upload.checksumType && checksumTypeName(upload.checksumType),
  };
}
