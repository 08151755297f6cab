import { emptyResponse, type S3Response } from "../s3-request.ts";
import { uploadOf, type ObjectCall } from "./verb-call.ts";

export async function abortMultipartUpload(call: ObjectCall): Promise<S3Response> {
  await call.bucket.call({ method: "abortUpload", ...uploadOf(call) });
  return emptyResponse(204);
}
