import { listLimitMax, partNumberMax } from "../../store/core/limits.ts";
import { checksumElements, checksumTypeName } from "../../http/headers.ts";
import { storageClassName } from "../metadata-headers.ts";
import { wholeParameter } from "../request-target.ts";
import { xmlResponse, type S3Response } from "../s3-request.ts";
import { writeXml } from "../../http/xml.ts";
import { owner, uploadOf, type ObjectCall } from "./verb-call.ts";

export async function listParts(call: ObjectCall): Promise<S3Response> {
  const { request, bucket, bucketName, key } = call;
  const { parameters } = request;
  const maxParts = wholeParameter(parameters, "max-parts", {
    max: listLimitMax,
    fallback: listLimitMax,
  });
  const afterPartNumber = wholeParameter(parameters, "part-number-marker", {
    max: partNumberMax,
    fallback: 0,
  });
  const reference = uploadOf(call);
  const { parts, truncated, upload } = await bucket.call({
    method: "listParts",
    ...reference,
    afterPartNumber,
    limit: Math.max(maxParts, 1),
  });
  return xmlResponse(
    writeXml("ListPartsResult", {
      Bucket: bucketName,
      Key: key,
      UploadId: reference.uploadId,
      PartNumberMarker: afterPartNumber,
      NextPartNumberMarker: parts.at(-1)?.partNumber ?? null,
      MaxParts: maxParts,
      IsTruncated: truncated,
      Part: parts.map((part) => ({
        PartNumber: part.partNumber,
        LastModified: new Date(part.uploaded).toISOString(),
        ETag: `"${part.etag}"`,
        Size: part.size,
        ...checksumElements(part.checksums),
      })),
      Initiator: owner,
      Owner: owner,
      StorageClass: storageClassName(upload.storageClass),
      ChecksumAlgorithm: upload.checksumAlgorithm?.toUpperCase() ?? null,
      ChecksumType:
        upload.checksumType === undefined ? null : checksumTypeName(upload.checksumType),
    }),
  );
}
