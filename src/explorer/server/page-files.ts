/** The files of the page, which the build puts beside this module: everything is in the package. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { objectListUrl } from "../api/buckets.ts";
import type { ExplorerResponse } from "./call.ts";

const contentTypes: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** The page runs its own scripts only, and loads nothing from other origins. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
  "media-src 'self'; connect-src 'self'; frame-src 'self'; object-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

interface PageAddress {
  /** Where the page lives (`access-rule.ts`). */
  readonly base: string;
  /** Below the base. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The page, for every path: the page reads its address. */
export function pageFile(method: string, address: PageAddress): ExplorerResponse {
  if (method !== "GET" && method !== "HEAD") {
    return { status: 405, headers: { allow: "GET, HEAD" } };
  }
  const preload = listPreload(address);
  const bytes = readFile("index.html");
  if (bytes === null) {
    const body = "The files of the page are missing. Run the build, or install the package again.";
    return { status: 500, headers: { "content-type": "text/plain; charset=utf-8" }, body };
  }
  return htmlPage(200, bytes, pagePolicy, preload === null ? {} : { link: preload });
}

const assetPattern = /^\/assets\/([\w-]+\.(js|css|svg))$/;
/** Brotli's best takes a second for the page; this quality takes a tenth of it. */
const brotliQuality = 6;
const compressed = new Map<string, Uint8Array>();

/** A file of the page. Its name has a hash of its content, so browsers keep it. */
export function assetFile({ pathname }: URL, headers: IncomingHttpHeaders): ExplorerResponse {
  const [, name = "", extension = ""] = assetPattern.exec(pathname) ?? [];
  const bytes = name === "" ? null : readFile(`assets/${name}`);
  if (bytes === null) return { status: 404, headers: {} };
  const accepted = headers["accept-encoding"]?.toString() ?? "";
  const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : null;
  return {
    status: 200,
    headers: {
      "content-type": contentTypes[extension] as string,
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(encoding !== null && { "content-encoding": encoding }),
    },
    body: encoding === null ? bytes : compress(name, encoding, bytes),
  };
}

function compress(name: string, encoding: "br" | "gzip", bytes: Uint8Array): Uint8Array {
  const key = `${encoding} ${name}`;
  const known = compressed.get(key);
  if (known !== undefined) return known;
  const quality = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality };
  const made = encoding === "br" ? brotliCompressSync(bytes, { params: quality }) : gzipSync(bytes);
  compressed.set(key, made);
  return made;
}

/** Goes to the page if the page has been open in this browser: it leaves its base in the storage of the origin. */
const returnScript =
  'const base=localStorage.getItem("ledge-base");' +
  'if(base!==null&&!location.pathname.startsWith("/~"))' +
  "location.replace(base+location.pathname+location.search);";

/** What a person sees whose browser has no access. */
export function refusalPage(status: number, message: string): ExplorerResponse {
  return ownPage(status, `<p>${escaped(message)}</p>`, status === 401 ? returnScript : "");
}

/** What a person sees after a link in another local page: the click comes from this origin. */
export function clickPage({ pathname, search }: URL): ExplorerResponse {
  // Slashes at the start would be another host.
  const href = escaped(`${pathname.replace(/^\/+/, "/")}${search}`);
  return ownPage(
    200,
    `<p>A link in another page has led here.</p><p><a href="${href}">Open the explorer</a></p>`,
  );
}

const ownStyle =
  ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}" +
  "main{max-width:34rem;margin:15vh auto;padding:0 1.5rem}h1{font-size:1.25rem}" +
  "a{display:inline-block;padding:.5rem .75rem;border:1px solid;border-radius:.375rem;text-decoration:none}";

function ownPage(status: number, content: string, script = ""): ExplorerResponse {
  const policy =
    `default-src 'none'; style-src ${hashOf(ownStyle)}; script-src ${hashOf(script)}; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<title>Ledge explorer</title><style>${ownStyle}</style></head>` +
    `<body><main><h1>Ledge explorer</h1>${content}</main><script>${script}</script></body></html>`;
  return htmlPage(status, Buffer.from(html), policy);
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function htmlPage(
  status: number,
  body: Uint8Array,
  policy: string,
  headers: Readonly<Record<string, string>> = {},
): ExplorerResponse {
  return {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      ...headers,
    },
    body,
  };
}

/** Relative to a module in `dist`; in the sources, to the build beside them. */
function readFile(name: string): Uint8Array | null {
  for (const folder of ["./explorer/", "../../../dist/explorer/"]) {
    try {
      return readFileSync(new URL(`${folder}${name}`, import.meta.url));
    } catch {
      // The next folder may have the file.
    }
  }
  return null;
}

/** A name of a bucket needs no encoding. */
const addressPattern = /^\/buckets\/([a-z0-9-]+)$/;

/**
 * The list that an address of the page shows, as a request that the browser sends early: the value of a
 * `Link` header, or `null` for an address that shows no list.
 */
export function listPreload({ base, path, query }: PageAddress): string | null {
  const [, bucket] = addressPattern.exec(path) ?? [];
  if (bucket === undefined) return null;
  const url = objectListUrl({
    bucket,
    prefix: query.get("prefix") ?? "",
    after: query.get("after") ?? "",
  });
  // The browser takes the response for the call of the page only if both have the same mode: `fetch()`
  // has the mode of `crossorigin`, also for its own origin.
  return `<${base}${url}>; rel=preload; as=fetch; crossorigin`;
}
