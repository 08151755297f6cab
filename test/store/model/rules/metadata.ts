/** `httpMetadata` and `customMetadata`: parsing of the options, limits, and headers. */
import { readDate, stringOf, type Options } from "./arguments.ts";
import { fieldError, storeError, type Action } from "./errors.ts";

/** The specification does not define the exact count: no sequence comes close to the limit. */
const metadataSizeBytesMax = 8192;

export interface Metadata {
  readonly http: HttpMetadata;
  readonly custom: Record<string, string>;
}

export type HttpMetadata = Record<string, string | Date>;

/** Fields and their headers, in the order of the specification. */
const httpFields = [
  ["contentType", "content-type"],
  ["contentLanguage", "content-language"],
  ["contentDisposition", "content-disposition"],
  ["contentEncoding", "content-encoding"],
  ["cacheControl", "cache-control"],
] as const;

export function readMetadata(options: Options, on: string): Metadata {
  return {
    http: readHttpMetadata(options["httpMetadata"], on),
    custom: readCustomMetadata(options["customMetadata"], on),
  };
}

export function readHttpMetadata(value: unknown, on: string): HttpMetadata {
  const result: HttpMetadata = {};
  if (value === undefined || value === null) return result;
  if (value instanceof Headers) {
    for (const [field, header] of httpFields) {
      const text = value.get(header);
      if (text !== null) result[field] = text;
    }
    const expires = value.get("expires");
    if (expires !== null) result["cacheExpiry"] = new Date(expires);
    return result;
  }
  if (typeof value !== "object") {
    throw fieldError("httpMetadata", { on, type: "HttpMetadata or Headers" });
  }
  const fields = value as Options;
  for (const [field] of httpFields) {
    if (fields[field] !== undefined) result[field] = stringOf(fields[field]);
  }
  if (fields["cacheExpiry"] !== undefined) {
    const field = { name: "cacheExpiry", on: "HttpMetadata" };
    result["cacheExpiry"] = new Date(readDate(fields["cacheExpiry"], field));
  }
  return result;
}

function readCustomMetadata(value: unknown, on: string): Record<string, string> {
  if (value === undefined) return {};
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw fieldError("customMetadata", { on, type: "object" });
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => [stringOf(name), stringOf(text)]),
  );
}

export function checkMetadataSize({ http, custom }: Metadata, action: Action): void {
  const texts = [...Object.entries(custom).flat(), ...Object.values(http).map(String)];
  const sizeBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (sizeBytes > metadataSizeBytesMax) throw storeError(action, 10012);
}

export function writeHeaders(http: HttpMetadata, headers: Headers): void {
  for (const [field, header] of httpFields) {
    const text = http[field];
    if (text !== undefined) headers.set(header, String(text));
  }
  const expires = http["cacheExpiry"];
  if (expires instanceof Date) headers.set("expires", expires.toUTCString());
}
