/** The content type of a file: what the browser knows, or by the extension. */

/** Types that browsers give no name to, or not on every system. */
const byExtension: Readonly<Record<string, string>> = {
  avif: "image/avif",
  cbor: "application/cbor",
  csv: "text/csv",
  flac: "audio/flac",
  gz: "application/gzip",
  ics: "text/calendar",
  jsonc: "application/json",
  jsonl: "application/jsonl",
  log: "text/plain",
  map: "application/json",
  md: "text/markdown",
  mkv: "video/x-matroska",
  mjs: "text/javascript",
  ndjson: "application/x-ndjson",
  opus: "audio/ogg",
  parquet: "application/vnd.apache.parquet",
  sh: "application/x-sh",
  sql: "application/sql",
  tar: "application/x-tar",
  toml: "application/toml",
  ts: "text/plain",
  tsx: "text/plain",
  wasm: "application/wasm",
  webmanifest: "application/manifest+json",
  webp: "image/webp",
  woff2: "font/woff2",
  yaml: "application/yaml",
  yml: "application/yaml",
  zst: "application/zstd",
};

/** Chromium takes the source of a program for a video. */
const mistaken: ReadonlySet<string> = new Set(["ts"]);

/** @returns `undefined` when neither the browser nor the extension tells: the store then has no type */
export function contentTypeOf(file: {
  readonly name: string;
  readonly type: string;
}): string | undefined {
  const extension = /\.([^./]+)$/.exec(file.name)?.[1]?.toLowerCase() ?? "";
  const known = Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
  if (file.type !== "" && !mistaken.has(extension)) return file.type;
  return known;
}
