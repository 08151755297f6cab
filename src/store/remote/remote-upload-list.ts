/**
 * Lists the uploads in progress of a bucket on an S3 service.
 *
 * Keys roll up into prefixes here, because Ceph leaves out uploads when it is asked for prefixes. Uploads
 * have the order of the service: Ceph compares the text of a key and its upload, so that `a-b` is before `a`.
 */
import { childrenOf, childText, type XmlElement } from "../../http/xml.ts";
import { compareKeys, utf8Length } from "../core/key.ts";
import { keyBytesMax, listLimitMax } from "../core/limits.ts";
import { rollUp, validateLimit } from "../core/list-page.ts";
import { uploadStateAt } from "../core/multipart.ts";
import type { Request, Result, UploadPosition, UploadRecord } from "../core/operations.ts";
import type { RemoteContext } from "./remote-context.ts";
import { decodeUploadId, encodeUploadId } from "./remote-object.ts";
import type { ServiceUpload } from "./remote-uploads.ts";
import { readDocument, textDecoderOf } from "./s3-answer.ts";

/** A page of uploads, in the order of the service. Keys are those of the service. */
interface UploadsPage {
  readonly uploads: (ServiceUpload & { readonly created: number })[];
  readonly isTruncated: boolean;
}

interface Marker {
  readonly keyMarker?: string;
  readonly uploadIdMarker?: string;
}

type UploadsQuery = Marker & { readonly prefix: string; readonly limit: number };

export async function listUploads(
  remote: RemoteContext,
  request: Omit<Request<"listUploads">, "method">,
): Promise<Result<"listUploads">> {
  const { prefix, delimiter = "", after, limit } = request;
  validateLimit(limit);
  const whole = (remote.prefix + prefix).toWellFormed();
  const uploads: UploadRecord[] = [];
  const prefixes: string[] = [];
  if (utf8Length(whole) > keyBytesMax) return { uploads, prefixes, truncated: false };
  let last = after;
  let marker: Marker = after === undefined ? {} : markerOf(remote, after, prefix, delimiter);
  for (;;) {
    const query = { prefix: whole, limit: delimiter === "" ? limit : listLimitMax, ...marker };
    const page = await readUploads(remote, query);
    for (const upload of inProgress(remote, page)) {
      const { key, uploadId } = upload;
      const rolledUp = rollUp(key, prefix, delimiter);
      // Keys with one prefix are neighbours. Ceph repeats the uploads of the key that is the marker.
      if (last?.uploadId === undefined && last?.key === (rolledUp ?? key)) continue;
      if (uploads.length + prefixes.length === limit && last !== undefined) {
        return { uploads, prefixes, truncated: true, next: last };
      }
      if (rolledUp === null) uploads.push(upload);
      else prefixes.push(rolledUp);
      last = rolledUp === null ? { key, uploadId } : { key: rolledUp };
    }
    const end = page.uploads.at(-1);
    if (!page.isTruncated || end === undefined) return { uploads, prefixes, truncated: false };
    if (uploads.length + prefixes.length === limit && last !== undefined) {
      return { uploads, prefixes, truncated: true, next: last };
    }
    marker = markerAfter(remote, end, prefix, delimiter);
  }
}

/** All uploads in progress. */
export async function countUploads(remote: RemoteContext): Promise<number> {
  let count = 0;
  let after: UploadPosition | undefined;
  do {
    const request = { prefix: "", limit: listLimitMax, after };
    const page: Result<"listUploads"> = await listUploads(remote, request);
    count += page.uploads.length;
    after = page.next;
  } while (after !== undefined);
  return count;
}

function inProgress({ prefix, now }: RemoteContext, { uploads }: UploadsPage): UploadRecord[] {
  const time = now();
  return uploads
    .filter(
      ({ created }) =>
        uploadStateAt({ state: "in progress", since: created }, time) === "in progress",
    )
    .map((upload) => {
      const key = upload.key.slice(prefix.length);
      const uploadId = encodeUploadId(key, upload.serviceId);
      return { key, uploadId, created: upload.created, storageClass: "Standard" };
    });
}

/** After the last upload of a page, or after all keys with the prefix into which it rolls up. */
function markerAfter(
  remote: RemoteContext,
  { key, serviceId }: ServiceUpload,
  prefix: string,
  delimiter: string,
): Marker {
  const own = { keyMarker: key, uploadIdMarker: serviceId };
  const rolledUp = rollUp(key.slice(remote.prefix.length), prefix, delimiter);
  if (rolledUp === null) return own;
  const next = markerOf(remote, { key: rolledUp }, prefix, delimiter);
  // Otherwise a key has the prefix and the last character, and the same page would come again.
  return compareKeys(key, next.keyMarker ?? "") < 0 ? next : own;
}

function markerOf(
  remote: RemoteContext,
  { key, uploadId }: UploadPosition,
  prefix: string,
  delimiter: string,
): Marker {
  if (compareKeys(key, prefix) < 0) return {};
  const keyMarker = (remote.prefix + key).toWellFormed();
  if (uploadId !== undefined) {
    return { keyMarker, uploadIdMarker: decodeUploadId(key, uploadId).serviceId };
  }
  // The page before ended with a prefix: the last character is after all keys with the prefix.
  const isPrefix = rollUp(key, prefix, delimiter) === key;
  return { keyMarker: isPrefix ? `${keyMarker}\u{10ffff}` : keyMarker };
}

/**
 * Keys are asked for in their encoded form, because XML cannot contain each character. Ceph encodes them and
 * does not say so, and other services ignore the parameter: keys that could be either are asked for again.
 */
async function readUploads(remote: RemoteContext, query: UploadsQuery): Promise<UploadsPage> {
  const document = await readUploadsDocument(remote, query, [["encoding-type", "url"]]);
  const page = parseUploads(document);
  const isCertain =
    childText(document, "EncodingType") !== null ||
    page.uploads.every(({ key }) => !/[%+]/.test(key));
  return isCertain ? page : parseUploads(await readUploadsDocument(remote, query, []));
}

async function readUploadsDocument(
  { connection }: RemoteContext,
  { prefix, keyMarker, uploadIdMarker, limit }: UploadsQuery,
  encoding: readonly (readonly [string, string])[],
): Promise<XmlElement> {
  const answer = await connection.send({
    method: "GET",
    query: [
      ["uploads", ""],
      ...encoding,
      ["max-uploads", String(limit)],
      ["prefix", prefix],
      ...(keyMarker === undefined ? [] : [["key-marker", keyMarker] as const]),
      ...(uploadIdMarker === undefined ? [] : [["upload-id-marker", uploadIdMarker] as const]),
    ],
  });
  return readDocument(answer, "list uploads");
}

function parseUploads(document: XmlElement): UploadsPage {
  const decode = textDecoderOf(document);
  return {
    uploads: childrenOf(document, "Upload").map((upload) => ({
      key: decode(childText(upload, "Key") ?? ""),
      serviceId: childText(upload, "UploadId") ?? "",
      created: Date.parse(childText(upload, "Initiated") ?? "") || 0,
    })),
    isTruncated: childText(document, "IsTruncated")?.trim() === "true",
  };
}
