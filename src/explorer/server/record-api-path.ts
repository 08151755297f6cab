/**
 * The path of a call of the record API. Whatever the page sends stays below `/client/v4`: other paths
 * of the same server change the state of tests and have no business in a browser.
 */
const root = "/client/v4/";

/** @returns `null` for a path that would lead elsewhere */
export function recordApiPath(rest: string): string | null {
  const isPlain = rest.split("/").every((segment) => {
    const decoded = decode(segment);
    // A server that decodes the path before it resolves dot segments would leave the root.
    return decoded !== null && decoded !== "" && !/^\.{1,2}$|[/\\]/.test(decoded);
  });
  if (!isPlain) return null;
  const { pathname } = new URL(`http://server${root}${rest}`);
  return pathname === `${root}${rest}` ? pathname : null;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
