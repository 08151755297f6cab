/**
 * Which HTTP requests a local server answers.
 *
 * A server on loopback is in reach of every web page that the user opens. A page can give its own name
 * the address 127.0.0.1 (DNS rebinding): only the `Host` header then tells the page from the server. A
 * page can also send requests to another origin: the browser hides the response and asks first
 * (preflight) for all but simple requests, and a request that could change something has an `Origin`.
 *
 * So a server answers a request whose `Host` is a loopback name or a configured host, and whose
 * `Origin`, if there is any, is at such a host or is a configured origin. A preflight is granted to
 * configured origins only. A browser resolves `localhost` and all names below it to loopback
 * without DNS, so no page can have such a name from elsewhere.
 *
 * The rule is pure: servers in Node and in workerd apply it.
 */

export interface HostRule {
  /** Names and addresses besides loopback, without ports. `hostName()` gives their form. */
  readonly hosts: readonly string[];
  /** Origins whose pages may use the server across origins (CORS), as `Origin` has them. */
  readonly origins: readonly string[];
}

export interface RequestHead {
  readonly method: string;
  readonly host: string | null;
  readonly origin: string | null;
  /** `Access-Control-Request-Method`. */
  readonly requestedMethod: string | null;
}

export interface Refusal {
  readonly refused: "host" | "origin" | "preflight";
  /** The header that the request was refused for, as the client sent it. */
  readonly value: string;
}

export const loopbackOnly: HostRule = { hosts: [], origins: [] };

const hostPattern =
  /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)\.?)(?::\d{1,5})?$/i;
const originPattern = /^[a-z][a-z0-9+.-]*:\/\/([^/?#@]+)$/i;
const loopbackIpv4 = /^127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;
const loopbackIpv6 = /^(?:0{0,4}:){2,7}0{0,3}1$/;
/** A message shows this many characters of a header. */
const shownCharactersMax = 100;

/**
 * The name or address in a `Host` header: without the port, the brackets of an IPv6 address and the
 * final dot, in lower case.
 *
 * @returns `null` for text that is not a host
 */
export function hostName(host: string): string | null {
  const [whole, address, name] = hostPattern.exec(host) ?? [];
  return whole === undefined ? null : ((address ?? name) as string).toLowerCase();
}

/** @param name in the form of `hostName()` */
function isLoopbackName(name: string): boolean {
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    loopbackIpv4.test(name) ||
    (loopbackIpv6.test(name) && name.split(":").length <= 8)
  );
}

/** @param hosts besides loopback, in the form of `hostName()` */
export function isServedHost(host: string, hosts: readonly string[]): boolean {
  const name = hostName(host);
  return name !== null && (isLoopbackName(name) || hosts.includes(name));
}

/** Whether `text` is an origin as a browser sends it: `https://app.example:3000`. */
export function isOrigin(text: string): boolean {
  const host = originPattern.exec(text)?.[1];
  return host !== undefined && hostName(host) !== null && text === text.toLowerCase();
}

/** @returns `null` when the server may answer the request */
export function refuseRequest(head: RequestHead, rule: HostRule): Refusal | null {
  const { method, host, origin, requestedMethod } = head;
  // HTTP/1.0 has requests without a host. No browser sends any.
  if (host === null || !isServedHost(host, rule.hosts))
    return { refused: "host", value: host ?? "" };
  if (origin === null || rule.origins.includes(origin)) return null;
  const isPreflight = method === "OPTIONS" && requestedMethod !== null;
  if (isPreflight) return { refused: "preflight", value: origin };
  const originHost = originPattern.exec(origin)?.[1];
  const isServed = originHost !== undefined && isServedHost(originHost, rule.hosts);
  return isServed ? null : { refused: "origin", value: origin };
}

interface HostRuleKeys {
  readonly hosts: string;
  readonly origins: string;
}

export function describeRefusal({ refused, value }: Refusal, keys: HostRuleKeys): string {
  const shown = JSON.stringify(value.slice(0, shownCharactersMax));
  switch (refused) {
    case "host":
      return (
        `Requests for the host ${shown} are not answered, because a web page could have sent them. ` +
        `Use localhost or 127.0.0.1, or add the host to ${keys.hosts}.`
      );
    case "origin":
      return (
        `Requests of pages of the origin ${shown} are not answered. ` +
        `To allow them, add the origin to ${keys.origins}.`
      );
    case "preflight":
      return (
        `Pages of the origin ${shown} may not send requests to this server. ` +
        `To allow them, add the origin to ${keys.origins}.`
      );
  }
}

/** The headers of a response to a page of a configured origin. Other pages get none (no CORS). */
export function corsHeaders(
  { method, origin, requestedMethod }: RequestHead,
  { origins }: HostRule,
): Record<string, string> {
  if (origin === null || !origins.includes(origin)) return {};
  const granted = { "access-control-allow-origin": origin, vary: "origin" };
  if (method !== "OPTIONS" || requestedMethod === null) return granted;
  return {
    ...granted,
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": "authorization, content-type, x-auth-email, x-auth-key",
  };
}
