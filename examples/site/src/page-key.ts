/**
 * Which objects an address may mean.
 *
 *     /            index.html
 *     /guide/      guide/index.html
 *     /guide       guide, or a redirect to /guide/ if guide/index.html is there
 *     /a.css       a.css
 */

const index = "index.html";

/** The object at `pathname`, and, for one without a final slash, the page of the folder of its name. */
export interface PageKeys {
  key: string;
  folderIndex: string | null;
}

/** `null` when the address is not percent-encoded UTF-8 */
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

/** The address of the folder. All of it, since `//name/` alone would be another host. */
export function withSlash(address: string): string {
  const url = new URL(address);
  url.pathname += "/";
  return url.href;
}
