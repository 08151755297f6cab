/** Objects as assertions and inline snapshots show them: readable, and the same in every run. */
import type { FixtureObject } from "../store/core/fault.ts";

export interface PresentedObject {
  /** The content as text, or a description of bytes that are not text */
  readonly content: string;
  readonly httpMetadata: Record<string, string>;
  readonly customMetadata: Record<string, string>;
}

/** Of longer text, only the beginning and the size are shown. */
const textLengthMax = 2000;

export function presentObject({ bytes, http, custom }: FixtureObject): PresentedObject {
  const { cacheExpiry, ...fields } = http;
  return {
    content: presentBytes(bytes),
    httpMetadata: {
      ...fields,
      ...(cacheExpiry !== undefined && { cacheExpiry: new Date(cacheExpiry).toISOString() }),
    },
    customMetadata: { ...custom },
  };
}

function presentBytes(bytes: Uint8Array): string {
  const text = decodeText(bytes);
  if (text === null) {
    const start = Array.from(bytes.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0"));
    return `<${bytes.length} bytes: ${start.join(" ")}${bytes.length > 8 ? " …" : ""}>`;
  }
  return text.length <= textLengthMax
    ? text
    : `${text.slice(0, textLengthMax)}… <${bytes.length} bytes>`;
}

function decodeText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    // Control characters other than white space: the bytes are UTF-8 by chance.
    // oxlint-disable-next-line no-control-regex
    return /[\u0000-\u0008\u000e-\u001f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}
