import { xmlResponse, type S3Response } from "../s3-request.ts";
import { writeXml } from "../../http/xml.ts";

/** No bucket has versions: the configuration has no status. */
export async function getBucketVersioning(): Promise<S3Response> {
  return xmlResponse(writeXml("VersioningConfiguration", {}));
}
