/**
 * Precompressed files: beside `app.js` there may be `app.js.br` and `app.js.gz`.
 *
 * They are other representations of the same page (RFC 9110, section 12.5.3), each with an etag of
 * its own, so every answer about a page that could have them says `Vary: Accept-Encoding`.
 */

export type Encoding = "br" | "gzip";

/** The best first: brotli is the smaller one. */
const encodings: readonly Encoding[] = ["br", "gzip"];

const extensions: Record<Encoding, string> = { br: ".br", gzip: ".gz" };

export function variantKey(key: string, encoding: Encoding): string {
  return key + extensions[encoding];
}

/** Images and the like are compressed already. */
export function isCompressible(contentType: string): boolean {
  return /^text\/|[/+](javascript|json|xml|wasm)\b|^application\/manifest/.test(contentType);
}

/** The encodings that `header` allows, in our order of preference. */
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
