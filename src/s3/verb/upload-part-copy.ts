import { checksumElements } from "../../http/headers.ts";
import { customerKeyHeaders, parseCustomerKey } from "../customer-key-headers.ts";
import { requirePartNumber } from "../object-response.ts";
import { parseCopyRange } from "../range-header.ts";
import { xmlResponse, type S3Response } from "../s3-request.ts";
import { writeXml } from "../../http/xml.ts";
import { copyContent, openSource } from "./copied-content.ts";
import { uploadOf, type ObjectCall } from "./verb-call.ts";

export async function uploadPartCopy(call: ObjectCall): Promise<S3Response> {
  const { request, bucket } = call;
  const partNumber = requirePartNumber(request.parameters);
  const header = request.headers.get("x-amz-copy-source-range");
  const range = header === null ? {} : { range: parseCopyRange(header) };
  const customerKey = parseCustomerKey(request.headers);
  const reference = uploadOf(call);
  const { upload } = await bucket.call({
    method: "listParts",
    ...reference,
    afterPartNumber: 0,
    limit: 1,
  });
  const { checksumAlgorithm } = upload;
  const source = await openSource(call, range);
  const content = await copyContent(
    source,
    bucket,
    checksumAlgorithm === undefined ? [] : [checksumAlgorithm],
  );
  const { etag } = await bucket.call({
    method: "uploadPart",
    ...reference,
    partNumber,
    content,
    ...customerKey,
  });
  return xmlResponse(
    writeXml("CopyPartResult", {
      ETag: `"${etag}"`,
      // The part was stored in this second; the operation does not say when.
      LastModified: new Date(call.now()).toISOString(),
      ...checksumElements(content.checksums),
    }),
    customerKeyHeaders(customerKey),
  );
}
