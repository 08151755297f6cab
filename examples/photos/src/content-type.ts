/** The content type of a photo: that of the request, or else that of the file name. */

const types: Record<string, string> = {
  avif: "image/avif",
  bmp: "image/bmp",
  gif: "image/gif",
  heic: "image/heic",
  ico: "image/vnd.microsoft.icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  mov: "video/quicktime",
  mp4: "video/mp4",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  tif: "image/tiff",
  tiff: "image/tiff",
  txt: "text/plain; charset=utf-8",
  webm: "video/webm",
  webp: "image/webp",
};

/** Default types of clients: curl sends the second with `--data-binary`. */
const meaningless = new Set(["application/octet-stream", "application/x-www-form-urlencoded"]);

export function contentTypeOf(key: string, sent: string | null): string {
  const bare = sent?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (sent !== null && bare !== "" && !meaningless.has(bare)) return sent;
  const extension = /\.([^./]+)$/.exec(key)?.[1]?.toLowerCase() ?? "";
  return types[extension] ?? "application/octet-stream";
}
