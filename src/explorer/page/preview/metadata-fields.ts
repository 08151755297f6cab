/** The fields of HTTP metadata: how the page names them, and what a person often writes. */
import type { TextField } from "./metadata-draft.ts";

export const httpFieldLabels: Readonly<Record<TextField, string>> = {
  contentType: "Content type",
  contentLanguage: "Content language",
  contentDisposition: "Content disposition",
  contentEncoding: "Content encoding",
  cacheControl: "Cache control",
};

export const httpFieldSuggestions: Readonly<Record<TextField, readonly string[]>> = {
  contentType: [
    "application/gzip",
    "application/javascript",
    "application/json",
    "application/octet-stream",
    "application/pdf",
    "application/wasm",
    "application/xml",
    "application/zip",
    "audio/mpeg",
    "audio/ogg",
    "audio/wav",
    "font/woff2",
    "image/avif",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/svg+xml",
    "image/webp",
    "image/x-icon",
    "text/css; charset=utf-8",
    "text/csv; charset=utf-8",
    "text/html; charset=utf-8",
    "text/javascript; charset=utf-8",
    "text/markdown; charset=utf-8",
    "text/plain; charset=utf-8",
    "video/mp4",
    "video/webm",
  ],
  contentLanguage: ["de", "en", "es", "fr", "it", "ja", "pt", "zh"],
  contentDisposition: ["inline", "attachment", 'attachment; filename="file.txt"'],
  contentEncoding: ["gzip", "br", "deflate", "zstd"],
  cacheControl: [
    "no-cache",
    "no-store",
    "public, max-age=3600",
    "public, max-age=31536000, immutable",
  ],
};
