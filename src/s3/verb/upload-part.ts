import { checksumHeaders } from "../../http/headers.ts";
import { customerKeyHeaders, parseCustomerKey } from "../customer-key-headers.ts";
import { receiveContent } from "../object-content.ts";
import { requirePartNumber } from "../object-response.ts";
import { emptyResponse, type S3Response } from "../s3-request.ts";
import { uploadOf, type ObjectCall } from "./verb-call.ts";

export async function uploadPart(call: ObjectCall): Promise<S3Response> {
  const { request, bucket } = call;
  const partNumber = requirePartNumber(request.parameters);
  const customerKey = parseCustomerKey(request.headers);
  const received = await receiveContent(bucket, request.body);
  const { etag } = await bucket.call({
    method: "uploadPart",
    ...uploadOf(call),
    partNumber,
    ...received,
    ...customerKey,
  });
  const { "x-amz-checksum-type": _type, ...headers } = checksumHeaders(received.content.checksums);
  return emptyResponse(200, { etag: `"${etag}"`, ...headers, ...customerKeyHeaders(customerKey) });
}
