/** A picture of one pixel, as the page's picker and `seed` take it. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A file for `setInputFiles()`. */
export function file(name: string, buffer: Buffer = pixel) {
  return { name, mimeType: "image/png", buffer };
}

/** Objects for `seed()`, by their keys. */
export function photos(...keys: readonly string[]) {
  const httpMetadata = { contentType: "image/png" };
  return Object.fromEntries(keys.map((key) => [key, { value: pixel, httpMetadata }]));
}
