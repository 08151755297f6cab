/** Objects as assertions and inline snapshots show them: the same every time, and readable. */
import type { FixtureObject } from "../store/core/fixture.ts";

export interface PresentedObject {
  /** The text, or what stands for bytes that are none */
  readonly content: string;
  readonly httpMetadata: Record<string, string>;
  readonly customMetadata: Record<string, string>;
}

/** Longer text says how long it is, and starts with so much. */
const textMax = 2000;

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
  const text = decode(bytes);
  if (text === null) {
    const start = Array.from(bytes.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0"));
    return `<${bytes.length} bytes: ${start.join(" ")}${bytes.length > 8 ? " …" : ""}>`;
  }
  return text.length <= textMax ? text : `${text.slice(0, textMax)}… <${bytes.length} bytes>`;
}

function decode(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    // Control characters other than white space: it only happens to be UTF-8.
    // oxlint-disable-next-line no-control-regex
    return /[\u0000-\u0008\u000e-\u001f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}
