/** In which language a text is written, by its content type and by the extension of its key. */

/** The languages that `highlighter.ts` registers. */
export type Language =
  | "bash"
  | "css"
  | "go"
  | "html"
  | "ini"
  | "js"
  | "json"
  | "md"
  | "py"
  | "rs"
  | "sql"
  | "toml"
  | "ts"
  | "xml"
  | "yaml";

const byExtension: Readonly<Record<string, Language | null>> = {
  bash: "bash",
  sh: "bash",
  zsh: "bash",
  css: "css",
  go: "go",
  cfg: "ini",
  conf: "ini",
  env: "ini",
  ini: "ini",
  toml: "toml",
  cjs: "js",
  js: "js",
  jsx: "js",
  mjs: "js",
  json: "json",
  json5: "json",
  jsonc: "json",
  jsonl: "json",
  map: "json",
  ndjson: "json",
  webmanifest: "json",
  markdown: "md",
  md: "md",
  py: "py",
  rs: "rs",
  sql: "sql",
  cts: "ts",
  mts: "ts",
  ts: "ts",
  tsx: "ts",
  atom: "xml",
  htm: "html",
  html: "html",
  rss: "xml",
  svg: "xml",
  vue: "xml",
  xhtml: "html",
  xml: "xml",
  yaml: "yaml",
  yml: "yaml",
  csv: null,
  log: null,
  text: null,
  tsv: null,
  txt: null,
};

const byType: Readonly<Record<string, Language | null>> = {
  "application/ecmascript": "js",
  "application/graphql": null,
  "application/javascript": "js",
  "application/json5": "json",
  "application/json-seq": "json",
  "application/jsonl": "json",
  "application/ndjson": "json",
  "application/sql": "sql",
  "application/toml": "toml",
  "application/typescript": "ts",
  "application/x-httpd-php": null,
  "application/x-javascript": "js",
  "application/x-ndjson": "json",
  "application/x-sh": "bash",
  "application/x-sql": "sql",
  "application/x-typescript": "ts",
  "application/x-yaml": "yaml",
  "application/xhtml+xml": "html",
  "application/xml": "xml",
  "application/yaml": "yaml",
  "text/css": "css",
  "text/ecmascript": "js",
  "text/html": "html",
  "text/javascript": "js",
  "text/markdown": "md",
  "text/xml": "xml",
  "text/yaml": "yaml",
};

/** The end of the last segment of a key, in lower case; empty if there is none. */
export function extensionOf(key: string): string {
  return /\.([^./]+)$/.exec(key)?.[1]?.toLowerCase() ?? "";
}

/** `undefined` for an extension that no known text has; `null` for a text in no language. */
export function languageOfKey(key: string): Language | null | undefined {
  const extension = extensionOf(key);
  return Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
}

/**
 * `undefined` for a content type that is not a text; `null` for a text in no known language.
 *
 * @param type the content type without parameters, in lower case
 */
export function languageOfType(type: string): Language | null | undefined {
  if (Object.hasOwn(byType, type)) return byType[type];
  if (type.endsWith("+xml")) return "xml";
  if (type.endsWith("+yaml")) return "yaml";
  return type.startsWith("text/") ? null : undefined;
}
