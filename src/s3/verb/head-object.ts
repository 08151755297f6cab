import { resolveRange } from "../../store/core/byte-range.ts";
import { conditionHolds } from "../../store/core/conditional.ts";
import { requireSameKey } from "../../store/core/metadata.ts";
import { decodeObject } from "../../store/core/object.ts";
import { parseCustomerKey } from "../customer-key-headers.ts";
import { failedStatus, parseConditions, parseIfRange } from "../condition-headers.ts";
import {
  notModified,
  objectResponse,
  parsePartNumber,
  type ShownObject,
} from "../object-response.ts";
import { parseRange } from "../range-header.ts";
import { S3Error } from "../s3-error.ts";
import type { S3Response } from "../s3-request.ts";
import { requireOnlyVersion, type ObjectCall } from "./verb-call.ts";

export async function headObject(call: ObjectCall): Promise<S3Response> {
  const { request } = call;
  requireOnlyVersion(request.parameters.get("versionId"));
  const customerKey = parseCustomerKey(request.headers);
  const found = await findObject(call);
  if (found === null) throw new S3Error("NoSuchKey");
  requireSameKey(found.object, customerKey.ssecKeyMd5);
  const onlyIf = parseConditions(request.headers);
  if (onlyIf === undefined || conditionHolds(onlyIf, found.object)) {
    return objectResponse(request, found);
  }
  if (failedStatus(onlyIf, found.object) === 412) throw new S3Error("PreconditionFailed");
  return notModified(found.object);
}

async function findObject({ request, bucket, key }: ObjectCall): Promise<ShownObject | null> {
  const partNumber = parsePartNumber(request);
  if (partNumber !== undefined) {
    const opened = await bucket.get({ key, partNumber });
    if (opened?.status !== "found") return null;
    if (!(opened.content instanceof Uint8Array)) opened.content.close();
    return { ...opened, isPartial: true };
  }
  const header = request.headers.get("range");
  const asked = header === null ? undefined : parseRange(header);
  const text = await bucket.call({ method: "head", key });
  if (text === null) return null;
  const object = decodeObject(key, text);
  const range = conditionHolds(parseIfRange(request.headers) ?? {}, object) ? asked : undefined;
  return { object, range: resolveRange(range, object.size), isPartial: range !== undefined };
}
