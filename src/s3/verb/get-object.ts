import { conditionHolds, type Conditional } from "../../store/core/conditional.ts";
import { parseCustomerKey } from "../customer-key-headers.ts";
import { failedStatus, parseConditions, parseIfRange } from "../condition-headers.ts";
import { notModified, objectResponse, parsePartNumber } from "../object-response.ts";
import { parseRange } from "../range-header.ts";
import type { OpenedObject } from "../s3-bucket.ts";
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
  const ranged = await openRange(call, onlyIf);
  const opened =
    ranged ??
    (await bucket.get({
      key,
      ...(onlyIf !== undefined && { onlyIf }),
      ...(partNumber !== undefined && { partNumber }),
    }));
  if (opened === null) throw new S3Error("NoSuchKey");
  requireKeyOf(opened, customerKey);
  if (opened.status === "found") {
    const isPartial = ranged !== null || partNumber !== undefined;
    return { ...objectResponse(request, { ...opened, isPartial }), body: opened.content };
  }
  // Only a read with conditions fails in this way.
  if (failedStatus(onlyIf ?? {}, opened.object) === 412) throw new S3Error("PreconditionFailed");
  return notModified(opened.object);
}

/**
 * Opens the range of the request. The bucket decides about `If-Range` when it reads the object, so the
 * range is that of the version which the client has.
 *
 * @returns `null` without a range, when `If-Range` does not hold, and when no object exists
 */
async function openRange(
  { request, bucket, key }: ObjectCall,
  onlyIf: Conditional | undefined,
): Promise<OpenedObject | null> {
  const header = request.headers.get("range");
  if (header === null) return null;
  const range = parseRange(header);
  const ifRange = parseIfRange(request.headers);
  const condition = ifRange ?? onlyIf;
  const opened = await bucket.get({
    key,
    range,
    ...(condition !== undefined && { onlyIf: condition }),
  });
  if (ifRange === undefined || opened === null) return opened;
  if (opened.status !== "found") return null;
  const { object, content } = opened;
  if (onlyIf === undefined || conditionHolds(onlyIf, object)) return opened;
  if (!(content instanceof Uint8Array)) content.close();
  return { status: "condition failed", object };
}
