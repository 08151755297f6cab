/**
 * Precompressed variants: `app.js` may have the variants `app.js.br` and `app.js.gz`.
 *
 * A variant is another representation of the same page (RFC 9110, section 12.5.3) with its own
 * etag. Every response for a page that can have variants therefore has `Vary: Accept-Encoding`.
 */

export type Encoding = "br" | "gzip";

/** In the order of preference: brotli is smaller. */
const encodings: readonly Encoding[] = ["br", "gzip"];

const extensions: Record<Encoding, string> = { br: ".br", gzip: ".gz" };

export function variantKey(key: string, encoding: Encoding): string {
  return key + extensions[encoding];
}

/** Other types, such as images, are compressed already. */
export function isCompressible(contentType: string): boolean {
  return /^text\/|[/+](javascript|json|xml|wasm)\b|^application\/manifest/.test(contentType);
}

/** The encodings that `header` accepts, in the order of preference. */
export function acceptedEncodings(header: string | null): Encoding[] {
  const weights = new Map(
    (header ?? "").split(",").map((item) => {
      const [name = "", ...parameters] = item.split(";").map((text) => text.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return [name, weight === undefined ? 1 : Number(weight.slice(2))];
    }),
  );
  const wildcard = weights.get("*") ?? 0;
  return encodings.filter((encoding) => (weights.get(encoding) ?? wildcard) > 0);
}
