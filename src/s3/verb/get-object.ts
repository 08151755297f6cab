import { parseCustomerKey } from "../customer-key-headers.ts";
import { failedStatus, parseConditions } from "../condition-headers.ts";
import { notModified, objectResponse, parsePartNumber } from "../object-response.ts";
import { parseRange } from "../range-header.ts";
import { S3Error } from "../s3-error.ts";
import type { S3Response } from "../s3-request.ts";
import { requireKeyOf } from "./required-key.ts";
import { requireOnlyVersion, type ObjectCall } from "./verb-call.ts";

export async function getObject(call: ObjectCall): Promise<S3Response> {
  const { request, bucket, key } = call;
  requireOnlyVersion(request.parameters.get("versionId"));
  const onlyIf = parseConditions(request.headers);
  const partNumber = parsePartNumber(request);
  const customerKey = parseCustomerKey(request.headers);
  const rangeHeader = request.headers.get("range");
  const opened = await bucket.get({
    key,
    ...(onlyIf !== undefined && { onlyIf }),
    ...(partNumber !== undefined && { partNumber }),
    ...(rangeHeader !== null && { range: parseRange(rangeHeader) }),
  });
  if (opened === null) throw new S3Error("NoSuchKey");
  await requireKeyOf(opened, customerKey);
  if (opened.status === "found")
    return { ...objectResponse(request, opened), body: opened.content };
  // Only a read with conditions fails in this way.
  if (failedStatus(onlyIf ?? {}, opened.object) === 412) throw new S3Error("PreconditionFailed");
  return notModified(opened.object);
}
