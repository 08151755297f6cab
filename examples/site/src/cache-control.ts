/**
 * How long an answer may be kept.
 *
 * A name with a hash of the content in it (`style.4f2a9c1b.css`) never means anything else, so it is
 * kept for good and never asked for again. Everything else is kept and asked about: the etag makes
 * the answer a 304.
 */
export function cacheControlOf(key: string): string {
  const hashed = /[.-][0-9a-f]{8,64}\.[^./]+$/i.test(key);
  return hashed ? "public, max-age=31536000, immutable" : "no-cache";
}
