/** The requests of multipart uploads, and the documents of their answers. */
import { checksumElements, checksumsInElement } from "../../http/headers.ts";
import { childrenOf, childText, type XmlElement, writeXml } from "../../http/xml.ts";
import { StoreError } from "../core/errors.ts";
import { listLimitMax } from "../core/limits.ts";
import type { ListedPart } from "../core/multipart.ts";
import { unquoted } from "./remote-object.ts";
import type { S3Connection } from "./s3-connection.ts";
import { readDocument, readText, refuseAnswer, textDecoderOf } from "./service-answer.ts";

/** An upload, by the key and the id that the service knows. */
export interface ServiceUpload {
  readonly key: string;
  readonly serviceId: string;
}

/** The parts after a number, up to a limit. */
export interface PartsQuery {
  readonly afterPartNumber: number;
  readonly limit: number;
}

export interface PartsPage {
  readonly parts: ListedPart[];
  readonly isTruncated: boolean;
}

/** @throws StoreError 10024 for an upload that does not exist */
export async function readParts(
  connection: S3Connection,
  { key, serviceId }: ServiceUpload,
  { afterPartNumber, limit }: PartsQuery,
): Promise<PartsPage> {
  // An empty id is no upload, and a request without the id lists objects.
  if (serviceId === "") throw new StoreError(10024);
  const answer = await connection.send({
    method: "GET",
    key,
    query: [
      ["uploadId", serviceId],
      ["max-parts", String(limit)],
      ...(afterPartNumber > 0 ? [["part-number-marker", String(afterPartNumber)] as const] : []),
    ],
  });
  if (answer.status === 404) {
    await readText(answer);
    throw new StoreError(10024);
  }
  if (answer.status !== 200) return refuseAnswer(answer, "list the parts of an upload");
  const document = await readDocument(answer);
  return {
    parts: childrenOf(document, "Part").map(parsePart),
    isTruncated: childText(document, "IsTruncated")?.trim() === "true",
  };
}

/** All parts, by their numbers. */
export async function readAllParts(
  connection: S3Connection,
  upload: ServiceUpload,
): Promise<Map<number, ListedPart>> {
  const parts = new Map<number, ListedPart>();
  let afterPartNumber = 0;
  for (;;) {
    const page = await readParts(connection, upload, { afterPartNumber, limit: listLimitMax });
    for (const part of page.parts) parts.set(part.partNumber, part);
    const last = page.parts.at(-1);
    if (!page.isTruncated || last === undefined) return parts;
    afterPartNumber = last.partNumber;
  }
}

function parsePart(element: XmlElement): ListedPart {
  const etag = unquoted(childText(element, "ETag") ?? "");
  const checksums = Object.fromEntries(
    checksumsInElement(element).map(({ algorithm, hex }) => [algorithm, hex ?? undefined]),
  );
  return {
    partNumber: Number(childText(element, "PartNumber")),
    size: Number(childText(element, "Size")),
    etag,
    uploaded: Date.parse(childText(element, "LastModified") ?? "") || 0,
    checksums: { ...checksums, md5: etag },
  };
}

/** The document that completes an upload. */
export function completionDocument(
  parts: readonly ListedPart[],
  { hasChecksums }: { readonly hasChecksums: boolean },
): Uint8Array {
  const document = writeXml("CompleteMultipartUpload", {
    Part: parts.map(({ partNumber, etag, checksums }) => ({
      PartNumber: partNumber,
      ETag: `"${etag}"`,
      ...(hasChecksums && checksumElements(checksums)),
    })),
  });
  return new TextEncoder().encode(document);
}

/** A page of uploads, in the order of the service. Keys are those of the service. */
export interface UploadsPage {
  readonly uploads: (ServiceUpload & { readonly created: number })[];
  readonly isTruncated: boolean;
}

export interface UploadsQuery {
  readonly prefix: string;
  readonly keyMarker?: string;
  readonly uploadIdMarker?: string;
  readonly limit: number;
}

/**
 * Keys are asked for in their encoded form, because XML cannot contain each character. Ceph encodes them and
 * does not say so, and other services ignore the parameter: keys that could be either are asked for again.
 */
export async function readUploads(
  connection: S3Connection,
  query: UploadsQuery,
): Promise<UploadsPage> {
  const document = await readUploadsDocument(connection, query, [["encoding-type", "url"]]);
  const page = parseUploads(document);
  const isCertain =
    childText(document, "EncodingType") !== null ||
    page.uploads.every(({ key }) => !/[%+]/.test(key));
  return isCertain ? page : parseUploads(await readUploadsDocument(connection, query, []));
}

async function readUploadsDocument(
  connection: S3Connection,
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
  if (answer.status !== 200) return refuseAnswer(answer, "list uploads");
  return readDocument(answer);
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
