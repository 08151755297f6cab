import { S3Error } from "../s3-error.ts";
import { xmlResponse, type S3Response } from "../s3-request.ts";
import { writeXml } from "../../http/xml.ts";
import type { BucketCall } from "./verb-call.ts";

/** Deviation: buckets have no location, so the answer is the region of all buckets. */
export async function getBucketLocation({ request }: BucketCall): Promise<S3Response> {
  const unknown = request.parameters.names.find(
    (name) => name !== "location" && name !== "x-id" && !/^x-amz-/i.test(name),
  );
  if (unknown !== undefined) {
    throw new S3Error(
      "InvalidArgument",
      `Search param ${unknown} is unsupported for bucket location`,
    );
  }
  return xmlResponse(writeXml("LocationConstraint", "auto"));
}
