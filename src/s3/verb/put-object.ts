import { decodeObject, allChecksums } from "../../store/core/object.ts";
import { validateKey } from "../../store/core/key.ts";
import { validateMetadata } from "../../store/core/metadata.ts";
import { checksumHeaders } from "../../http/headers.ts";
import { parseConditions } from "../condition-headers.ts";
import { customerKeyHeaders } from "../customer-key-headers.ts";
import { parseDescription } from "../metadata-headers.ts";
import { receiveContent } from "../object-content.ts";
import { S3Error } from "../s3-error.ts";
import { emptyResponse, type S3Response } from "../s3-request.ts";
import type { ObjectCall } from "./verb-call.ts";

export async function putObject({ request, bucket, key }: ObjectCall): Promise<S3Response> {
  const { headers, body } = request;
  const description = parseDescription(headers);
  const onlyIf = parseConditions(headers);
  // All that is known is checked before the body is read.
  validateKey(key);
  validateMetadata(description.http, description.custom);
  const received = await receiveContent(bucket, body);
  const stored = await bucket.call({
    method: "put",
    key,
    ...description,
    ...received,
    ...(onlyIf !== undefined && { onlyIf }),
  });
  if (stored === null) throw new S3Error("PreconditionFailed");
  const object = decodeObject(key, stored);
  return emptyResponse(200, {
    etag: `"${object.etag}"`,
    ...checksumHeaders(allChecksums(object)),
    ...customerKeyHeaders(object),
  });
}
