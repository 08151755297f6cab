import { validateMetadata } from "../../store/core/metadata.ts";
import { validateKey } from "../../store/core/key.ts";
import { uploadBytesMax } from "../../store/core/limits.ts";
import { decodeObject, allChecksums } from "../../store/core/object.ts";
import { checksumHeaders } from "../../http/headers.ts";
import { customerKeyHeaders } from "../customer-key-headers.ts";
import { expandFields, fieldHeaders, postResponse, requireField } from "../form-fields.ts";
import { parseDescription } from "../metadata-headers.ts";
import { writeFormContent } from "../object-content.ts";
import { checkPolicy, limitSize, parsePolicy } from "../post-policy.ts";
import { S3Error } from "../s3-error.ts";
import type { S3Form, S3Response } from "../s3-request.ts";
import { screenHeaders } from "../screened-headers.ts";
import type { BucketCall } from "./verb-call.ts";

/** The upload of a browser: a form with a policy that the credentials have signed. */
export async function postObject(call: BucketCall): Promise<S3Response> {
  const form = await call.request.body.form();
  try {
    return await storeForm(call, form);
  } finally {
    await form.close();
  }
}

async function storeForm(
  { request, bucket, bucketName, now, verifyForm }: BucketCall,
  form: S3Form,
): Promise<S3Response> {
  verifyForm(form.fields);
  const policy = parsePolicy(requireField(form.fields, "policy"));
  const fields = expandFields(form.fields, form.fileName);
  const key = requireField(fields, "key");
  checkPolicy(policy, new Map([...fields, ["bucket", bucketName]]), now());
  const headers = fieldHeaders(fields);
  screenHeaders("PostObject", headers);
  const description = parseDescription(headers);
  validateKey(key);
  validateMetadata(description.http, description.custom);
  const size = { ...policy.size, max: Math.min(policy.size.max, uploadBytesMax) };
  const received = await writeFormContent(bucket, limitSize(form.content(), size), headers);
  const stored = await bucket.call({ method: "put", key, ...description, ...received });
  // Only a put with conditions stores nothing.
  if (stored === null) throw new S3Error("InternalError");
  const object = decodeObject(key, stored);
  const { bucketUrl } = request;
  const { etag } = object;
  const shown = { ...checksumHeaders(allChecksums(object)), ...customerKeyHeaders(object) };
  return postResponse(fields, { bucketName, bucketUrl, key, etag, headers: shown });
}
