/**
 * Lets scripts and tests resolve the names of the test's zones as they resolve all other names: by DNS over
 * HTTPS with `fetch`, and with `node:dns`, which calls `fetch` in workerd.
 *
 *     fetch("https://cloudflare-dns.com/dns-query?…") ─▶ the test's DNS ─▶ the answer, if a zone has the name
 *                                                            └─ 421 ─▶ the request goes out as written
 */
import type { DnsControlStub } from "./controls.ts";

/** The path of RFC 8484's examples, which public resolvers use; Google has another one for JSON. */
const queryPath = "/dns-query";
const googlePath = "/resolve";
const googleHosts = new Set(["dns.google", "dns.google.com"]);

type Fetch = typeof globalThis.fetch;

export function isDohUrl(url: URL): boolean {
  const { pathname, hostname, searchParams } = url;
  if (!/^https?:$/.test(url.protocol)) return false;
  return (
    pathname === queryPath ||
    (googleHosts.has(hostname) && pathname === googlePath && searchParams.has("name"))
  );
}

/** Replaces `fetch`. What replaces it later, such as a mock, sees these requests too. */
export function resolveFromZones(
  dns: Pick<DnsControlStub, "fetch">,
  scope: { fetch: Fetch } = globalThis,
): void {
  const goOut = scope.fetch;
  scope.fetch = async function fetch(input, init) {
    const url = urlOf(input);
    if (url === null || !isDohUrl(url)) return goOut(input, init);
    const request = new Request(input, init);
    const { method, headers, signal } = request;
    signal.throwIfAborted();
    const body = request.body === null ? undefined : await request.clone().arrayBuffer();
    const answer = await dns.fetch(`http://dns/ledge${queryPath}${url.search}`, {
      method,
      headers: Object.fromEntries(headers),
      body,
    });
    signal.throwIfAborted();
    // 503 is a query that a fault has dropped. Every other error means that there is no query for a zone.
    return answer.ok || answer.status === 503 ? answer : goOut(request);
  };
}

function urlOf(input: RequestInfo | URL): URL | null {
  return URL.parse(input instanceof Request ? input.url : String(input));
}
