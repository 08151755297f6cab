import { checksumTypeName } from "../../http/headers.ts";
import { parseUploadChecksum } from "../checksum-headers.ts";
import { customerKeyHeaders } from "../customer-key-headers.ts";
import { parseDescription } from "../metadata-headers.ts";
import { xmlResponse, type S3Response } from "../s3-request.ts";
import { writeXml } from "../../http/xml.ts";
import type { ObjectCall } from "./verb-call.ts";

export async function createMultipartUpload(call: ObjectCall): Promise<S3Response> {
  const { request, bucket, bucketName, key } = call;
  const checksum = parseUploadChecksum(request.headers);
  const description = parseDescription(request.headers);
  const { uploadId } = await bucket.call({
    method: "createUpload",
    key,
    ...description,
    ...checksum,
  });
  const { checksumAlgorithm, checksumType } = checksum;
  return xmlResponse(
    writeXml("InitiateMultipartUploadResult", {
      Bucket: bucketName,
      Key: key,
      UploadId: uploadId,
    }),
    {
      ...customerKeyHeaders(description),
      ...(checksumAlgorithm !== undefined && {
        "x-amz-checksum-algorithm": checksumAlgorithm.toUpperCase(),
      }),
      ...(checksumType !== undefined && { "x-amz-checksum-type": checksumTypeName(checksumType) }),
    },
  );
}
