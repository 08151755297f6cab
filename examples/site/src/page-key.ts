/**
 * The keys of an address.
 *
 *     /            index.html
 *     /guide/      guide/index.html
 *     /guide       guide, or a redirect to /guide/ if guide/index.html exists
 *     /a.css       a.css
 */

const index = "index.html";

export interface PageKeys {
  key: string;
  /** For an address without a final slash, the index page of the folder with that name. */
  folderIndex: string | null;
}

/** `null` when the address is not percent-encoded UTF-8. */
export function pageKeys(pathname: string): PageKeys | null {
  let path: string;
  try {
    path = decodeURIComponent(pathname.slice(1));
  } catch {
    return null;
  }
  if (path === "" || path.endsWith("/")) return { key: path + index, folderIndex: null };
  return { key: path, folderIndex: `${path}/${index}` };
}

/** The absolute address of the folder: a relative `//name/` would be another host. */
export function withSlash(address: string): string {
  const url = new URL(address);
  url.pathname += "/";
  return url.href;
}
