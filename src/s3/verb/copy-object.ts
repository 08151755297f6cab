import { validateKey } from "../../store/core/key.ts";
import { decodeObject, allChecksums } from "../../store/core/object.ts";
import type { DescribedObject, ObjectDescription } from "../../store/core/operations.ts";
import { checksumElements } from "../../http/headers.ts";
import { parseConditions } from "../condition-headers.ts";
import { customerKeyHeaders } from "../customer-key-headers.ts";
import { parseDescription } from "../metadata-headers.ts";
import { S3Error } from "../s3-error.ts";
import { xmlResponse, type S3Headers, type S3Response } from "../s3-request.ts";
import { writeXml } from "../../http/xml.ts";
import { algorithmsOf, copyContent, openSource } from "./copied-content.ts";
import type { ObjectCall } from "./verb-call.ts";

export async function copyObject(call: ObjectCall): Promise<S3Response> {
  const { request, bucket, key } = call;
  const { headers } = request;
  const directive = parseDirective(headers);
  const given = parseDescription(headers);
  // The conditions of the deployed service for the destination, and those of AWS.
  const onlyIf = parseConditions(headers, "cf-copy-destination-") ?? parseConditions(headers);
  validateKey(key);
  const sourceOnlyIf = parseConditions(headers, "x-amz-copy-source-");
  const source = await openSource(call, sourceOnlyIf === undefined ? {} : { onlyIf: sourceOnlyIf });
  const content = await copyContent(source, bucket, algorithmsOf(source.opened.object));
  const stored = await bucket.call({
    method: "put",
    key,
    ...describeCopy(directive, source.opened.object, given),
    content,
    ...(onlyIf !== undefined && { onlyIf }),
  });
  if (stored === null) throw new S3Error("PreconditionFailed");
  const object = decodeObject(key, stored);
  return xmlResponse(
    writeXml("CopyObjectResult", {
      ETag: `"${object.etag}"`,
      LastModified: new Date(object.uploaded).toISOString(),
      ...checksumElements(allChecksums(object)),
    }),
    customerKeyHeaders(object),
  );
}

type Directive = "COPY" | "REPLACE" | "MERGE";

function parseDirective(headers: S3Headers): Directive {
  const text = headers.get("x-amz-metadata-directive") ?? "COPY";
  if (text === "COPY" || text === "REPLACE" || text === "MERGE") return text;
  throw new S3Error("InvalidArgument", `metadata directive ${text}.`);
}

/** The storage class is never that of the source: a copy is a new object. */
function describeCopy(
  directive: Directive,
  source: DescribedObject,
  given: ObjectDescription,
): ObjectDescription {
  switch (directive) {
    case "COPY":
      return { ...given, http: source.http, custom: source.custom };
    case "REPLACE":
      return given;
    case "MERGE":
      return {
        ...given,
        http: { ...source.http, ...given.http },
        custom: { ...source.custom, ...given.custom },
      };
  }
}
