import { partNumberMax } from "../../store/core/limits.ts";
import type { CompletedPart } from "../../store/core/multipart.ts";
import { StoreError } from "../../store/core/errors.ts";
import { decodeObject, allChecksums } from "../../store/core/object.ts";
import { checksumElements, checksumTypeName, typeOf } from "../../http/headers.ts";
import { parseChecksumElements, parseChecksumHeader } from "../checksum-headers.ts";
import { parseConditions } from "../condition-headers.ts";
import { S3Error, parseRequestDocument } from "../s3-error.ts";
import { xmlResponse, type S3Headers, type S3Response } from "../s3-request.ts";
import { encodeComponent } from "../../http/uri.ts";
import { childrenOf, childText, type XmlElement, writeXml } from "../../http/xml.ts";
import { uploadOf, type ObjectCall } from "./verb-call.ts";

export async function completeMultipartUpload(call: ObjectCall): Promise<S3Response> {
  const { request, bucket, bucketName, key } = call;
  const { headers, body, bucketUrl } = request;
  const onlyIf = parseConditions(headers);
  const checksum = parseChecksumHeader(headers);
  const objectSize = parseObjectSize(headers);
  const parts = childrenOf(
    parseRequestDocument(await body.document("object"), "CompleteMultipartUpload"),
    "Part",
  ).map(parsePart);
  if (parts.length === 0) throw new S3Error("MalformedXML");
  const object = decodeObject(
    key,
    await bucket.call({
      method: "completeUpload",
      ...uploadOf(call),
      parts,
      ...(onlyIf !== undefined && { onlyIf }),
      ...(objectSize !== null && { objectSize }),
      ...(checksum !== undefined && { checksum }),
    }),
  );
  const elements = checksumElements(allChecksums(object));
  const hasChecksums = Object.keys(elements).length > 0;
  return xmlResponse(
    writeXml("CompleteMultipartUploadResult", {
      Location: `${bucketUrl}/${encodeComponent(key)}`,
      Bucket: bucketName,
      Key: key,
      ETag: `"${object.etag}"`,
      ...elements,
      ChecksumType: hasChecksums ? checksumTypeName(typeOf(allChecksums(object))) : null,
    }),
  );
}

function parseObjectSize(headers: S3Headers): number | null {
  const text = headers.get("x-amz-mp-object-size");
  if (text === null) return null;
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
  const checksums = parseChecksumElements(element);
  return {
    partNumber,
    etag: etag.trim().replace(/^"(.*)"$/, "$1"),
    ...(checksums !== undefined && { checksums }),
  };
}
