import { listLimitMax } from "../../store/core/limits.ts";
import { checksumTypeName } from "../../http/headers.ts";
import { storageClassName } from "../metadata-headers.ts";
import { wholeParameter } from "../request-target.ts";
import { xmlResponse, type S3Response } from "../s3-request.ts";
import { writeXml } from "../../http/xml.ts";
import { encoderOf } from "./list-objects.ts";
import { owner, type BucketCall } from "./verb-call.ts";

export async function listMultipartUploads(call: BucketCall): Promise<S3Response> {
  const { request, bucket, bucketName } = call;
  const { parameters } = request;
  const prefix = parameters.get("prefix") ?? "";
  const delimiter = parameters.get("delimiter") ?? "";
  const keyMarker = parameters.get("key-marker") ?? "";
  const uploadIdMarker = parameters.get("upload-id-marker") ?? "";
  const encodingType = parameters.get("encoding-type");
  const encode = encoderOf(encodingType);
  const maxUploads = wholeParameter(parameters, "max-uploads", {
    max: listLimitMax,
    fallback: listLimitMax,
  });
  const page = await bucket.call({
    method: "listUploads",
    prefix,
    ...(delimiter !== "" && { delimiter }),
    ...(keyMarker !== "" && {
      after: { key: keyMarker, ...(uploadIdMarker !== "" && { uploadId: uploadIdMarker }) },
    }),
    limit: Math.max(maxUploads, 1),
  });
  return xmlResponse(
    writeXml("ListMultipartUploadsResult", {
      Bucket: bucketName,
      KeyMarker: encode(keyMarker),
      UploadIdMarker: uploadIdMarker,
      NextKeyMarker: page.next === undefined ? null : encode(page.next.key),
      NextUploadIdMarker: page.next?.uploadId ?? null,
      Prefix: encode(prefix),
      Delimiter: delimiter === "" ? null : encode(delimiter),
      MaxUploads: maxUploads,
      IsTruncated: page.truncated,
      EncodingType: encodingType,
      Upload: page.uploads.map((upload) => ({
        Key: encode(upload.key),
        UploadId: upload.uploadId,
        Initiator: owner,
        Owner: owner,
        StorageClass: storageClassName(upload.storageClass),
        Initiated: new Date(upload.created).toISOString(),
        ChecksumAlgorithm: upload.checksumAlgorithm?.toUpperCase() ?? null,
        ChecksumType:
          upload.checksumType === undefined ? null : checksumTypeName(upload.checksumType),
      })),
      CommonPrefixes: page.prefixes.map((each) => ({ Prefix: encode(each) })),
    }),
  );
}
