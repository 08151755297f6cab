/**
 * `Cache-Control` of a file.
 *
 * The content of a file with a hash in its name (`style.4f2a9c1b.css`) never changes, so browsers
 * keep it without revalidation. Browsers revalidate all other files by the etag, and get a 304.
 */
export function cacheControlOf(key: string): string {
  const hashed = /[.-][0-9a-f]{8,64}\.[^./]+$/i.test(key);
  return hashed ? "public, max-age=31536000, immutable" : "no-cache";
}
