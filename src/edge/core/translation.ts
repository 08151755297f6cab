/**
 * URLs in headers, between the addresses of the browser and those of the script: `Origin` and `Referer` of a
 * request, `Location`, `Set-Cookie` and the CORS headers of a response.
 *
 *     http://photos.example.com.localhost:8787   the browser
 *     http://photos.example.com                  the script
 */

export interface Address {
  readonly protocol: string;
  /** With the port, if it is not the protocol's. */
  readonly host: string;
  readonly hostname: string;
}

export interface Translation {
  /** The origin in place of the origin of a URL; `null`: it stays. */
  origin(host: string, path: string): string | null;
  /** In place of the `Domain` of a cookie; `null`: it stays. */
  domain(name: string): string | null;
}

export interface Translations {
  readonly request: Translation;
  readonly response: Translation;
}

const suffix = ".localhost";

/**
 * Between the address of the client and that of the script.
 *
 * @param leadsHere whether a URL of a response leads to this edge: below `localhost`, it leads there, too
 */
export function translations(
  outer: Address,
  inner: Address,
  leadsHere: (host: string, path: string) => boolean,
): Translations {
  return outer.hostname === inner.host + suffix
    ? belowLocalhost(outer, inner, leadsHere)
    : { request: direct(outer, inner), response: direct(inner, outer) };
}

/** As wrangler's proxy translates for `--host`. */
function direct(from: Address, to: Address): Translation {
  return {
    origin: (host) => (host === from.host ? `${to.protocol}//${to.host}` : null),
    domain: (name) => (name === from.hostname ? to.hostname : null),
  };
}

function belowLocalhost(
  outer: Address,
  inner: Address,
  leadsHere: (host: string, path: string) => boolean,
): Translations {
  const ending = suffix + outer.host.slice(outer.hostname.length);
  /** Names of others in the request: a response that allows them (CORS) names them again. */
  const seen = new Set([inner.host]);
  const isAbove = (name: string): boolean => `.${inner.host}`.endsWith(`.${name}`);
  return {
    request: {
      origin(host) {
        const name = host.slice(0, -ending.length);
        if (!host.endsWith(ending) || !name.includes(".")) return null;
        seen.add(name);
        return `${inner.protocol}//${name}`;
      },
      domain: () => null,
    },
    response: {
      origin: (host, path) =>
        seen.has(host) || leadsHere(host, path) ? `${outer.protocol}//${host}${ending}` : null,
      // The domain of a zone is a domain below `localhost`, too.
      domain: (name) => (isAbove(name) ? name + suffix : null),
    },
  };
}

const urlPattern = /(https?):\/\/([^/?#\s,;"']+)([^\s,;"']*)/gi;

/** The value of a header. */
export function translateUrls(value: string, translation: Translation): string {
  if (!value.includes("://")) return value;
  return value.replace(urlPattern, (whole, scheme: string, host: string, path: string) => {
    const translated = translation.origin(withoutDefaultPort(scheme, host.toLowerCase()), path);
    return translated === null ? whole : translated + path;
  });
}

function withoutDefaultPort(scheme: string, host: string): string {
  return host.replace(scheme.toLowerCase() === "https" ? /:443$/ : /:80$/, "");
}

/** The value of a `Set-Cookie`. */
export function translateCookie(cookie: string, translation: Translation): string {
  return cookie.replace(/(;\s*domain=)\.?([^;,\s]+)/i, (whole, attribute: string, name: string) => {
    const translated = translation.domain(name.toLowerCase());
    return translated === null ? whole : attribute + translated;
  });
}
