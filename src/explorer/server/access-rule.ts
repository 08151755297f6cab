/**
 * Which requests the explorer answers. Its page can read, change and delete everything, so it answers
 * its own page and no other.
 *
 * - `Host` is a loopback name, as for every server here (`base/host-rule.ts`).
 * - The page lives below a path that is made of the token. The cookie is bound to this path: browsers send
 *   cookies to all ports of a host, and the pages of other ports do not know the path.
 * - A request of a page comes from this very origin, which `Sec-Fetch-Site` and `Origin` say.
 * - The request has the token: in the cookie, in the link that the command prints, or, from a program, in
 *   `Authorization: Bearer TOKEN`. The token keeps other users of the machine out.
 *
 * There is no CORS: no response has a header that would let another page read it.
 */
import { createHash } from "node:crypto";
import { loopbackOnly, refuseRequest } from "../../base/host-rule.ts";
import { isSameText } from "../../base/node-http.ts";

export interface AccessHead {
  readonly method: string;
  readonly path: string;
  readonly host: string | null;
  readonly origin: string | null;
  /** `Sec-Fetch-Site`; only browsers send it. */
  readonly fetchSite: string | null;
  /** Whether the request opens a page: `Sec-Fetch-Mode: navigate`. */
  readonly isNavigation: boolean;
  readonly cookie: string | null;
  readonly authorization: string | null;
  /** The token in the query of the printed link. */
  readonly linkToken: string | null;
}

export type Access =
  | { readonly access: "granted" }
  /** The link has the token: the browser gets the cookie, and the address of the page. */
  | { readonly access: "link" }
  /** A link in another page has led here: the request after a click comes from this origin. */
  | { readonly access: "click" }
  | { readonly access: "refused"; readonly status: 401 | 403; readonly message: string };

/** Below it are the page and its API: `/~` and 16 hexadecimal digits. */
export function basePath(token: string): string {
  return `/~${createHash("sha256").update(`path of ${token}`).digest("hex").slice(0, 16)}`;
}

export function decideAccess(head: AccessHead, token: string): Access {
  const isOwnSite = head.fetchSite === null || /^(?:none|same-origin)$/.test(head.fetchSite);
  // A form has no origin, because the page sends no referrers.
  const isOwnForm = head.origin === "null" && head.fetchSite === "same-origin" && head.isNavigation;
  const origin = isOwnForm ? null : head.origin;
  const refusal = refuseRequest({ ...head, origin, requestedMethod: null }, loopbackOnly);
  if (refusal?.refused === "host") {
    return refuse(403, "This address is not served. Open the explorer at localhost or 127.0.0.1.");
  }
  const isOwnOrigin = origin === null || origin === `http://${head.host}`;
  const isOpened = head.isNavigation && head.method === "GET";
  if (refusal !== null || !isOwnOrigin || !(isOwnSite || isOpened)) {
    return refuse(403, "Pages of other origins may not use the explorer.");
  }
  if (isSameText(token, head.linkToken ?? "") && head.method === "GET") return { access: "link" };
  if (!isOwnSite) return { access: "click" };
  const hasToken = isSameText(token, cookieValue(head.cookie, cookieName) ?? "");
  if (isSameText(`Bearer ${token}`, head.authorization ?? "")) return { access: "granted" };
  if (hasToken && head.path.startsWith(`${basePath(token)}/`)) return { access: "granted" };
  return refuse(
    401,
    "This browser has no access yet. Open the link that the command prints: it ends in ?token=…",
  );
}

const cookieName = "ledge-explorer";

export function accessCookie(token: string): string {
  const path = `${basePath(token)}/`;
  return `${cookieName}=${token}; Path=${path}; HttpOnly; SameSite=Strict; Max-Age=31536000`;
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
