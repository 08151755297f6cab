/** Reads the answers of an S3 service: bodies, documents, and the errors in them. */
import { childText, type XmlElement } from "../../http/xml.ts";
import { StoreError, storeErrorTable, type StoreErrorCode } from "../core/errors.ts";
import { parseDocument, readErrorDocument, type ErrorDocument } from "./error-document.ts";
import { RemoteError } from "./remote-error.ts";
import type { S3Answer } from "./s3-transport.ts";

/** The largest answers are pages of 1,000 keys. */
const documentBytesMax = 16 * 1024 * 1024;

/** Reads a body to its end, so that the connection can be used again. */
export async function readText({ body }: S3Answer): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > documentBytesMax) {
      await reader.cancel();
      throw unreadable("is too large");
    }
  }
}

/** @throws RemoteError */
export function contentLengthOf({ headers }: S3Answer): number {
  const text = headers.get("content-length") ?? "";
  if (/^\d+$/.test(text)) return Number(text);
  throw new RemoteError(
    "refused",
    "Cannot read an object: the answer of the S3 service has no Content-Length.",
  );
}

/** The document of an answer. */
export async function readDocument(answer: S3Answer): Promise<XmlElement> {
  const text = await readText(answer);
  return parseDocument(text) ?? fail("is not XML");
}

/** Decodes the keys of a listing, if the service has encoded them. */
export function textDecoderOf(document: XmlElement): (text: string) => string {
  const isEncoded = childText(document, "EncodingType")?.toLowerCase() === "url";
  return (text) => (isEncoded ? decodeURIComponent(text.replaceAll("+", " ")) : text);
}

/** The codes of services that are codes of the store. */
const storeCodes: Readonly<Record<string, StoreErrorCode>> = {
  BadDigest: 10037,
  EntityTooLarge: 100100,
  EntityTooSmall: 10011,
  InvalidPart: 10025,
  InvalidPartNumber: 200001,
  InvalidPartOrder: 10048,
  KeyTooLongError: 10020,
  NoSuchUpload: 10024,
};

/**
 * @param action what the service was asked for, for the sentence
 * @throws StoreError or RemoteError for an answer that no rule of the operation expects
 */
export async function refuseAnswer(answer: S3Answer, action: string): Promise<never> {
  const error = readErrorDocument(await readText(answer));
  throw refusalOf(error ?? { code: `status ${answer.status}`, message: "" }, action);
}

export function refusalOf(
  { code, message }: Pick<ErrorDocument, "code" | "message">,
  action: string,
): Error {
  const storeCode = storeCodes[code];
  if (storeCode !== undefined) return new StoreError(storeCode);
  if (code === "MetadataTooLarge") {
    return new StoreError(
      10012,
      `${storeErrorTable[10012].text} The S3 service allows less than a local bucket: shorten the metadata.`,
    );
  }
  const reason = message === "" ? code : `${code}: ${message.replace(/\.$/, "")}`;
  return new RemoteError("refused", `Cannot ${action}: the S3 service answered with ${reason}.`);
}

function fail(problem: string): never {
  throw unreadable(problem);
}

function unreadable(problem: string): RemoteError {
  return new RemoteError(
    "unknown",
    `Cannot read an answer of the S3 service: the document ${problem}.`,
  );
}
