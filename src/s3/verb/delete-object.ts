import { parseConditions } from "../condition-headers.ts";
import { emptyResponse, type S3Response } from "../s3-request.ts";
import { requireOnlyVersion, type ObjectCall } from "./verb-call.ts";

export async function deleteObject({ request, bucket, key }: ObjectCall): Promise<S3Response> {
  requireOnlyVersion(request.parameters.get("versionId"));
  const onlyIf = parseConditions(request.headers);
  await bucket.call({ method: "delete", keys: [key], ...(onlyIf !== undefined && { onlyIf }) });
  return emptyResponse(204);
}
