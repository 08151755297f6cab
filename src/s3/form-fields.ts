/** The fields of a form as the headers of a put, and the response that the form asks for. */
import { S3Error } from "./s3-error.ts";
import { emptyResponse, xmlHeaders, type S3Headers, type S3Response } from "./s3-request.ts";
import { encodeComponent } from "../http/uri.ts";
import { writeXml } from "../http/xml.ts";

/** By their names in lower case. */
export type FormFields = ReadonlyMap<string, string>;

/** Puts the name of the file, without folders, in the place of `${filename}`. */
export function expandFields(fields: FormFields, fileName: string): FormFields {
  const name = fileName.slice(Math.max(fileName.lastIndexOf("/"), fileName.lastIndexOf("\\")) + 1);
  return new Map(
    Array.from(fields, ([field, value]) => [field, value.replaceAll("${filename}", () => name)]),
  );
}

/** @throws S3Error InvalidArgument */
export function requireField(fields: FormFields, name: string): string {
  const value = fields.get(name.toLowerCase());
  if (value !== undefined && value !== "") return value;
  throw new S3Error(
    "InvalidArgument",
    `Bucket POST must contain a field named '${name}'.  If it is specified, please check the ` +
      "order of the fields.",
  );
}

/** These fields have other names than the headers of a put. */
const headerNames = new Map([
  ["acl", "x-amz-acl"],
  ["tagging", "x-amz-tagging"],
]);

export function fieldHeaders(fields: FormFields): S3Headers {
  const headers = new Map(
    Array.from(fields, ([name, value]) => [headerNames.get(name) ?? name, value]),
  );
  return {
    get: (name) => headers.get(name) ?? null,
    withPrefix: (prefix) => Array.from(headers).filter(([name]) => name.startsWith(prefix)),
  };
}

interface PostedObject {
  readonly bucketName: string;
  readonly bucketUrl: string;
  readonly key: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** `success_action_redirect`, or `success_action_status`: 200, 201 or 204, which is the default. */
export function postResponse(fields: FormFields, posted: PostedObject): S3Response {
  const { bucketName, bucketUrl, key } = posted;
  const etag = `"${posted.etag}"`;
  const location = `${bucketUrl}/${encodeComponent(key)}`;
  const headers = { ...posted.headers, etag, location };
  const target = parseUrl(fields.get("success_action_redirect") ?? fields.get("redirect") ?? "");
  if (target !== null) {
    const parameters = { bucket: bucketName, key, etag };
    for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    return emptyResponse(303, { ...headers, location: target.href });
  }
  const status = fields.get("success_action_status");
  if (status !== "201") return emptyResponse(status === "200" ? 200 : 204, headers);
  const content = { Location: location, Bucket: bucketName, Key: key, ETag: etag };
  return {
    status: 201,
    headers: { ...headers, ...xmlHeaders },
    body: writeXml("PostResponse", content, { hasNamespace: false }),
  };
}

/** `null` for a text that is no address of a page: S3 ignores such a field. */
function parseUrl(text: string): URL | null {
  const url = URL.parse(text);
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : null;
}
