/**
 * Names in tests: a request by name arrives where the edge of a dev server brings it.
 *
 *     dns.fetch("https://NAME/") ─▶ destination() ─┬─▶ script: `exports.default`, or a service binding
 *     fetch("https://NAME/")     ─▶ outbound()   ──┼─▶ bucket: its binding
 *                                      │           ├─▶ origin: `fetch()` of its address
 *                                      │           └─▶ page
 *                                      └─ null ─▶ the request goes out as written
 *
 * Routes, buckets and settings are those of the configuration file, and the zones those of the test. The calls use
 * the bindings and the `fetch()` of the isolate, so `faults`, `calls` and mocks apply to them.
 */
import { randomHex } from "../base/random-hex.ts";
import {
  destination,
  edgeHost,
  type Destination,
  type EdgeTable,
  type EdgeUrl,
} from "../edge/core/destination.ts";
import type { ZoneView } from "../edge/core/edge-table.ts";
import { outbound } from "../edge/core/outbound.ts";
import { originFaultPage, renderPage, type EdgePage } from "../edge/core/pages.ts";
import { platformHeaders } from "../edge/core/platform-headers.ts";
import { servePublicObject } from "../edge/worker/public-object.ts";
import type { StoreBucket } from "../types/store.ts";
import type { DnsControlStub, TestEdge } from "./controls.ts";

type Fetch = typeof globalThis.fetch;

/** What names lead to in the isolate, by their names in the configuration */
interface Isolate {
  readonly script: (name: string) => unknown;
  readonly bucket: (name: string) => unknown;
}

/** Answers a request, which follows no redirect itself. */
type Answer = (request: Request) => Promise<Response>;

export class RequestsByName {
  readonly #edge: TestEdge;
  readonly #dns: Pick<DnsControlStub, "fetch">;
  readonly #isolate: Isolate;

  constructor(edge: TestEdge, dns: Pick<DnsControlStub, "fetch">, isolate: Isolate) {
    this.#edge = edge;
    this.#dns = dns;
    this.#isolate = isolate;
  }

  /** `dns.fetch()`: a request of a visitor */
  readonly fetch: Fetch = (input, init) =>
    fetchAndFollow(input, init, fetch, async (text) => {
      const { table, script } = this.#edge;
      const url = edgeUrl(text, table);
      if (url === null) return (request) => this.#callScript(script, request);
      const to = destination(url, table, await this.#zoneOf(url.host));
      return (request) => this.#serve(to, request, url);
    });

  /** Replaces `fetch` of script and tests. What replaces it later, such as a mock, gets all requests first. */
  leadFetch(scope: { fetch: Fetch } = globalThis): void {
    const goOut = scope.fetch;
    scope.fetch = (input, init) =>
      fetchAndFollow(input, init, goOut, async (text) => {
        const { table, script, isPublicFetch } = this.#edge;
        const url = edgeUrl(text, table);
        if (url === null) return null;
        const zone = await this.#zoneOf(url.host);
        const to = outbound(url, { script, isPublicFetch }, table, zone);
        return to && ((request) => this.#serve(to, request, url));
      });
  }

  async #zoneOf(host: string): Promise<ZoneView | null> {
    const query = new URLSearchParams({ host });
    const response = await this.#dns.fetch(`http://dns/edge/zone?${query}`);
    return response.ok ? ((await response.json()) as ZoneView) : null;
  }

  async #serve(to: Destination, request: Request, url: EdgeUrl): Promise<Response> {
    const { table, cors } = this.#edge;
    switch (to.to) {
      case "page":
        return pageResponse(to.page, request);
      case "script":
        return this.#callScript(to.script, visitorRequest(request, url, table));
      case "origin":
        return this.#askOrigin(to, visitorRequest(request, url, table), url.host);
      case "bucket": {
        const { bucketName } = to;
        const rules = cors.filter(({ bucket = bucketName }) => bucket === bucketName);
        const [key = ""] = url.path.slice(1).split("?", 1);
        const bucket = this.#isolate.bucket(bucketName) as StoreBucket;
        return servePublicObject(request, key, bucket, rules).catch(
          (error: Error) => new Response(`${error.message}\n`, { status: 500 }),
        );
      }
    }
  }

  async #callScript(name: string, request: Request): Promise<Response> {
    const script = this.#isolate.script(name) as { fetch: Fetch } | undefined;
    if (script !== undefined) return script.fetch(request);
    const text = `A route leads to the script "${name}", to which the script under test has no service binding.\n`;
    return new Response(text, { status: 503 });
  }

  /** By `fetch()` of the isolate, so that mocks and faults apply. */
  async #askOrigin(
    { origins, record }: Destination & { to: "origin" },
    request: Request,
    host: string,
  ): Promise<Response> {
    const url = new URL(request.url);
    for (const { address, port, protocol } of origins) {
      url.protocol = protocol ?? "http";
      url.hostname = address.includes(":") ? `[${address}]` : address;
      url.port = String(port ?? "");
      const sent = new Request(url, request.clone());
      try {
        return await fetch(sent);
      } catch {
        // The next address may answer.
      }
    }
    return pageResponse(originFaultPage("refused", { host, record, address: url.host }), request);
  }
}

/** `null` for a host that is no name, and for another protocol. */
function edgeUrl(text: string, { buckets }: EdgeTable): EdgeUrl | null {
  const url = URL.parse(text);
  const protocol = url?.protocol;
  if (url === null || (protocol !== "http:" && protocol !== "https:")) return null;
  const host = edgeHost(url.host, buckets);
  return host === null ? null : { protocol, host, path: url.pathname + url.search };
}

const redirectsMax = 20;

/**
 * Like `fetch()`, also in following redirects: these may lead to another script.
 *
 * @param goOut answers URLs that lead nowhere here
 * @param lead where a URL leads; `null`: nowhere here
 */
async function fetchAndFollow(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
  goOut: Fetch,
  lead: (url: string) => Promise<Answer | null>,
): Promise<Response> {
  let answer = await lead(input instanceof Request ? input.url : String(input));
  if (answer === null) return goOut(input, init);
  let request = new Request(input, init);
  const isFollowing = request.redirect === "follow";
  for (let left = redirectsMax; ; left--) {
    // A body can be sent once.
    const again = request.body === null ? request : request.clone();
    const response = await answer(new Request(request, { redirect: "manual" }));
    const { status, headers } = response;
    const location = status >= 300 && status < 400 ? headers.get("location") : null;
    if (!isFollowing || location === null) return response;
    if (left === 0) throw new TypeError("Too many redirects.");
    await response.body?.cancel();
    request = redirected(again, new URL(location, request.url), status);
    answer = (await lead(request.url)) ?? goOut;
  }
}

/** The request of a redirect, by the Fetch standard. */
function redirected(request: Request, url: URL, status: number): Request {
  const { method, headers } = request;
  const isGet = status === 303 ? method !== "HEAD" : status < 303 && method === "POST";
  if (!isGet) return new Request(url, request);
  const kept = [...headers].filter(([name]) => !name.startsWith("content-"));
  return new Request(url, { headers: kept });
}

/** A request with the headers that the platform sets. */
function visitorRequest(request: Request, { protocol }: EdgeUrl, { settings }: EdgeTable): Request {
  const headers = new Headers(request.headers);
  const forwardedFor = headers.get("x-forwarded-for");
  const { country } = settings;
  const own = platformHeaders({ protocol, forwardedFor, country, ray: randomHex(8) });
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return new Request(request, { headers });
}

function pageResponse(page: EdgePage, { headers }: Request): Response {
  const isHtml = headers.get("accept")?.includes("text/html") === true;
  const { body, contentType } = renderPage(page, isHtml);
  return new Response(body, { status: page.status, headers: { "content-type": contentType } });
}
