/** The files of the page, which the build puts beside this module: everything is in the package. */
import { readFileSync } from "node:fs";
import type { ExplorerResponse } from "./call.ts";
import { objectListUrl } from "../api/object-list-url.ts";

const contentTypes: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** The page runs its own scripts only, and loads nothing from other origins. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " +
  "media-src 'self'; connect-src 'self'; frame-src 'self'; object-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const assetPattern = /^\/assets\/([\w-]+\.(js|css|svg))$/;

/** A file of the page; for every other path the page itself, which reads its address. */
export function pageFile(method: string, url: URL): ExplorerResponse {
  if (method !== "GET" && method !== "HEAD") {
    return { status: 405, headers: { allow: "GET, HEAD" } };
  }
  const [, name, extension] = assetPattern.exec(url.pathname) ?? [];
  if (name === undefined) {
    const preload = listPreload(url);
    return htmlPage(200, readFile("index.html"), preload === null ? {} : { link: preload });
  }
  const bytes = readFile(`assets/${name}`);
  return bytes === null
    ? { status: 404, headers: {} }
    : {
        status: 200,
        headers: { "content-type": contentTypes[extension as string] as string },
        body: bytes,
      };
}

/** What a person sees whose browser has no access. */
export function refusalPage(status: number, message: string): ExplorerResponse {
  const text = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return htmlPage(
    status,
    Buffer.from(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Ledge explorer</title>` +
        `<main><h1>Ledge explorer</h1><p>${text}</p></main></html>`,
    ),
  );
}

function htmlPage(
  status: number,
  bytes: Uint8Array | null,
  headers: Readonly<Record<string, string>> = {},
): ExplorerResponse {
  if (bytes === null) {
    const body = "The files of the page are missing. Run the build, or install the package again.";
    return { status: 500, headers: { "content-type": "text/plain; charset=utf-8" }, body };
  }
  return {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": pagePolicy,
      ...headers,
    },
    body: bytes,
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
export function listPreload({ pathname, searchParams }: URL): string | null {
  const [, bucket] = addressPattern.exec(pathname) ?? [];
  if (bucket === undefined) return null;
  const url = objectListUrl({
    bucket,
    prefix: searchParams.get("prefix") ?? "",
    after: searchParams.get("after") ?? "",
  });
  // The browser takes the response for the call of the page only if both have the same mode: `fetch()`
  // has the mode of `crossorigin`, also for its own origin.
  return `<${url}>; rel=preload; as=fetch; crossorigin`;
}
