/**
 * Which requests the explorer answers. Its page can read, change and delete everything, so it answers
 * its own page and no other.
 *
 * - `Host` is a loopback name, as for every server here (`base/host-rule.ts`).
 * - A request of a page comes from this very origin. Pages of other ports of localhost are same-site:
 *   their requests carry the cookie, whatever its `SameSite` says. `Sec-Fetch-Site` and `Origin` tell
 *   them apart.
 * - The request has the token: in the cookie, or in the link that the command prints. The token keeps
 *   other users of the machine out.
 *
 * There is no CORS: no response has a header that would let another page read it.
 */
import { loopbackOnly, refuseRequest } from "../../base/host-rule.ts";
import { isSameText } from "../../base/node-http.ts";

export interface AccessHead {
  readonly method: string;
  readonly host: string | null;
  readonly origin: string | null;
  /** `Sec-Fetch-Site`; only browsers send it. */
  readonly fetchSite: string | null;
  /** Whether the request opens a page: `Sec-Fetch-Mode: navigate`. */
  readonly isNavigation: boolean;
  readonly cookie: string | null;
  /** The token in the query of the printed link. */
  readonly linkToken: string | null;
}

export type Access =
  | { readonly access: "granted" }
  /** The link has the token: the browser gets the cookie and the address without the token. */
  | { readonly access: "link" }
  | { readonly access: "refused"; readonly status: 401 | 403; readonly message: string };

/** @param port of the server: browsers send a cookie to all ports of a host, so its name has the port */
export function decideAccess(head: AccessHead, token: string, port: number): Access {
  const refusal = refuseRequest({ ...head, requestedMethod: null }, loopbackOnly);
  if (refusal?.refused === "host") {
    return refuse(403, "This address is not served. Open the explorer at localhost or 127.0.0.1.");
  }
  const isOwnOrigin = head.origin === null || head.origin === `http://${head.host}`;
  if (refusal !== null || !isOwnOrigin) {
    return refuse(403, "Pages of other origins may not use the explorer.");
  }
  const isFromLink = isSameText(token, head.linkToken ?? "");
  // A click in a terminal or a bookmark is "none". A link in another page may open the page, but
  // the cookie is strict: the page then asks for the printed link.
  const isOwnPage = head.fetchSite === null || /^(?:none|same-origin)$/.test(head.fetchSite);
  if (!isOwnPage && !(isFromLink && head.isNavigation)) {
    return refuse(403, "Pages of other origins may not use the explorer.");
  }
  if (isFromLink && head.method === "GET") return { access: "link" };
  if (isSameText(token, cookieValue(head.cookie, cookieName(port)) ?? ""))
    return { access: "granted" };
  return refuse(
    401,
    "This browser has no access yet. Open the link that the command prints: it ends in ?token=…",
  );
}

function cookieName(port: number): string {
  return `ledge-explorer-${port}`;
}

export function accessCookie(token: string, port: number): string {
  return `${cookieName(port)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`;
}

function cookieValue(header: string | null, name: string): string | null {
  for (const pair of header?.split(";") ?? []) {
    const [key = "", value = ""] = pair.trim().split("=");
    if (key === name) return value;
  }
  return null;
}

function refuse(status: 401 | 403, message: string): Access {
  return { access: "refused", status, message };
}
