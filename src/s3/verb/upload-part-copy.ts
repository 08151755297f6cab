import { checksumElements } from "../checksum-headers.ts";
import { requirePartNumber } from "../object-response.ts";
import { parseCopyRange } from "../range-header.ts";
import { xmlResponse, type S3Response } from "../s3-request.ts";
import { writeXml } from "../xml/xml-writer.ts";
import { copyContent, openSource } from "./copied-content.ts";
import { uploadOf, type ObjectCall } from "./verb-call.ts";

export async function uploadPartCopy(call: ObjectCall): Promise<S3Response> {
  const { request, bucket } = call;
  const partNumber = requirePartNumber(request.parameters);
  const header = request.headers.get("x-amz-copy-source-range");
  const source = await openSource(call, header === null ? {} : { range: parseCopyRange(header) });
  const content = await copyContent(source, bucket);
  const { etag } = await bucket.call({
    method: "uploadPart",
    ...uploadOf(call),
    partNumber,
    content,
  });
  return xmlResponse(
    writeXml("CopyPartResult", {
      ETag: `"${etag}"`,
      // The part was stored in this second; the operation does not say when.
      LastModified: new Date(call.now()).toISOString(),
      ...checksumElements(content.checksums),
    }),
  );
}
