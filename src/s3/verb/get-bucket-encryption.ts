import { xmlResponse, type S3Response } from "../s3-request.ts";
import { writeXml } from "../../http/xml.ts";

/** The deployed service encrypts everything in one way, and says so for every bucket. */
export async function getBucketEncryption(): Promise<S3Response> {
  return xmlResponse(
    writeXml("ServerSideEncryptionConfiguration", {
      Rule: {
        ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" },
        BucketKeyEnabled: true,
      },
    }),
  );
}
