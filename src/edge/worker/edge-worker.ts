/**
 * The edge worker: every request to a dev server, from wrangler's proxy.
 *
 *     wrangler's proxy ──▶ edge ─┬▶ Miniflare's entry ──▶ script
 *                                ├▶ a public bucket
 *                                ├▶ the origin server in Node ──▶ origin
 *                                └▶ the dev server that has the route
 *
 * A request to loopback is the script's, as in `wrangler dev`. A name leads where routes, public buckets and
 * records say (`core/destination.ts`).
 */
import { describeRefusal, isServedHost } from "../../base/host-rule.ts";
import type * as types from "../../types/store.ts";
import {
  destination,
  edgeHost,
  routed,
  type Destination,
  type EdgeTable,
  type EdgeUrl,
} from "../core/destination.ts";
import {
  jointTable,
  parseProxyHeader,
  proxyHeader,
  stateHeader,
  type EdgeState,
  type UrlOverrides,
} from "../core/edge-state.ts";
import { answerControl, follow, passGate, type ControlEnv } from "./control.ts";
import { zoneViewMilliseconds, type EdgeMember, type ZoneView } from "../core/edge-table.ts";
import { entranceHeader, entranceHeaders, hopsMax, parseEntrance } from "../core/entrance.ts";
import { originHeaders } from "../core/origin-request.ts";
import { loopPage, renderPage, type EdgePage } from "../core/pages.ts";
import { platformHeaders } from "../core/platform-headers.ts";
import {
  translateCookie,
  translateUrls,
  translations,
  type Translation,
} from "../core/translation.ts";
import { wayMark, type EdgeWay } from "../core/way.ts";
import { servePublicObject } from "./public-object.ts";

/** The bindings. A public bucket has the name `bucket:NAME`. */
export interface EdgeEnv extends ControlEnv {
  readonly entry: Fetcher;
  readonly network: Fetcher;
  readonly zones: Fetcher;
  readonly state: EdgeState;
  /** The scripts beside the first, to which Miniflare's entry leads what says nothing else. */
  readonly otherScripts: readonly string[];
}

interface Current extends EdgeState {
  readonly table: EdgeTable;
}

/** Of the last request that the dev server has sent, else of the binding. */
let current: Current | undefined;

function useState(state: EdgeState): Current {
  return (current = { ...state, table: jointTable(state) });
}

export function stateOf(env: EdgeEnv): Current {
  return current ?? useState(env.state);
}

const originalUrlHeader = "mf-original-url";
const routeHeader = "mf-route-override";
const publicPath = "/cdn-cgi/local/store/public/";

/** The entrypoint at the socket. */
export const LedgeEdge: ExportedHandler<EdgeEnv> = {
  async fetch(request, env) {
    const state = stateOf(env);
    const { headers } = request;
    const { token } = state.own;
    if (headers.get(stateHeader) === token) {
      return answerControl(request, env, useState);
    }
    const overrides = parseProxyHeader(headers.get(proxyHeader) ?? "", token);
    if (overrides === null) return new Response("Only wrangler's proxy calls.", { status: 403 });
    await passGate(env, state);
    const received = new Request(request);
    return follow(request, () => new EdgeRequest(received, overrides, env, state).answer());
  },
};

/** Leads the `fetch()` of a script. */
export function leadFetch(
  request: Request,
  { led, url, env }: { readonly led: Destination; readonly url: EdgeUrl; readonly env: EdgeEnv },
): Promise<Response> {
  const sent = new Request(request);
  // A script can set any header.
  sent.headers.delete(originalUrlHeader);
  return new EdgeRequest(sent, {}, env, stateOf(env)).lead(led, url);
}

/** What the zones of the folder have for a name. */
export async function findZone(host: string, { zones }: EdgeEnv): Promise<ZoneView | null> {
  try {
    const url = `http://edge/edge/zone?host=${encodeURIComponent(host)}`;
    const response = await zones.fetch(url, { signal: AbortSignal.timeout(zoneViewMilliseconds) });
    return response.ok ? await response.json<ZoneView>() : null;
  } catch {
    // No process serves the zones, or the process does not answer.
    return null;
  }
}

class EdgeRequest {
  /** Without the headers that the proxy and dev servers add. */
  readonly #request: Request;
  readonly #env: EdgeEnv;
  readonly #state: Current;
  readonly #overrides: UrlOverrides;
  /** As the client has it. */
  readonly #outer: URL;
  readonly #hops: number | null;

  constructor(request: Request, overrides: UrlOverrides, env: EdgeEnv, state: Current) {
    const { headers } = request;
    const entrance = parseEntrance(headers.get(entranceHeader) ?? "", state.own.token);
    this.#outer = new URL(headers.get(originalUrlHeader) ?? request.url);
    if (entrance !== null) {
      const { pathname, search } = this.#outer;
      this.#outer = new URL(pathname + search, entrance.origin);
    }
    headers.delete(proxyHeader);
    headers.delete(entranceHeader);
    this.#request = request;
    this.#env = env;
    this.#state = state;
    this.#overrides = overrides;
    this.#hops = entrance?.hops ?? null;
  }

  async answer(): Promise<Response> {
    const { table, scriptHosts } = this.#state;
    const isLed = scriptHosts !== null || this.#hops !== null;
    const host = isLed ? edgeHost(this.#outer.host, table.buckets) : null;
    if (host !== null) {
      const response = await this.#answerName(host);
      if (response !== null) return response;
    }
    if (isLed && !isServedHost(this.#outer.host, scriptHosts ?? [])) {
      const refusal = { refused: "host", value: this.#outer.hostname } as const;
      const text = describeRefusal(refusal, { hosts: "hosts of [edge]", origins: "" });
      return new Response(`${text}\n`, { status: 403 });
    }
    const { pathname } = this.#outer;
    return pathname.startsWith(publicPath) ? this.#servePublic(pathname) : this.#toScript();
  }

  /** As wrangler's proxy does with the overrides. */
  #toScript(): Promise<Response> {
    const inner = Object.assign(new URL(this.#outer), this.#overrides);
    this.#request.headers.set(originalUrlHeader, inner.href);
    if (this.#overrides.hostname !== undefined) {
      // What Miniflare's option for another host would set.
      this.#request.headers.set("mf-original-hostname", inner.host);
    }
    return this.#translated(inner, () => this.#env.entry.fetch(this.#request));
  }

  /** Translates URLs in the headers of the request and the response. */
  async #translated(inner: URL, send: () => Promise<Response>): Promise<Response> {
    const outer = this.#outer;
    if (outer.origin === inner.origin) return send();
    const protocol = inner.protocol as EdgeUrl["protocol"];
    const { request, response: back } = translations(
      outer,
      inner,
      (host, path) => routed({ protocol, host, path }, this.#state.table) !== null,
    );
    translateHeaders(this.#request.headers, request);
    const response = await send();
    const changed = new Response(response.body, response);
    translateHeaders(changed.headers, back);
    return changed;
  }

  async #servePublic(pathname: string): Promise<Response> {
    const [bucketName = "", ...key] = pathname.slice(publicPath.length).split("/");
    return this.#serveObject(bucketName, key.join("/"));
  }

  async #serveObject(bucketName: string, encodedKey: string): Promise<Response> {
    const env = this.#env as unknown as Readonly<Record<string, types.StoreBucket | undefined>>;
    const bucket = env[`bucket:${bucketName}`];
    if (bucket === undefined) {
      return new Response(`No public bucket has the name ${bucketName}.\n`, { status: 404 });
    }
    const rules = this.#state.cors.filter(({ bucket: name = bucketName }) => name === bucketName);
    return servePublicObject(this.#request, encodedKey, bucket, rules);
  }

  /** @returns `null` for a host that no route, bucket or zone has, and that may be the script's */
  async #answerName(host: string): Promise<Response | null> {
    const { table, scriptHosts } = this.#state;
    const outer = this.#outer;
    const protocol = outer.protocol as EdgeUrl["protocol"];
    const url: EdgeUrl = { protocol, host, path: outer.pathname + outer.search };
    let led = routed(url, table);
    if (led === null) {
      if (isServedHost(host, scriptHosts ?? [])) return null;
      const zone = await findZone(host, this.#env);
      if (zone === null && !isServedHost(outer.host, [])) return null;
      led = destination(url, table, zone);
    }
    return this.lead(led, url);
  }

  async lead(led: Destination, { protocol, host, path }: EdgeUrl): Promise<Response> {
    const at = Date.now();
    const way = { record: null, route: null, ...this.#describe(led) };
    const response = await this.#lead(led, host);
    if (this.#state.reportsWays) {
      const { method } = this.#request;
      const [url, { status }, milliseconds] = [
        `${protocol}//${host}${path}`,
        response,
        Date.now() - at,
      ];
      const entry: EdgeWay = { method, url, name: host, ...way, status, at, milliseconds };
      console.log(wayMark + JSON.stringify(entry));
    }
    return response;
  }

  #describe(led: Destination): Pick<EdgeWay, "to"> & Partial<EdgeWay> {
    switch (led.to) {
      case "script":
        return { route: led.route.pattern, to: `script ${led.script}` };
      case "bucket":
        return { to: `bucket ${led.bucketName}` };
      case "origin": {
        const { name, type, content } = led.record;
        const addresses = led.origins.map(({ address, port }) =>
          port === null ? address : `${address}:${port}`,
        );
        return { record: `${type} ${name} ${content}`, to: `origin ${addresses.join(", ")}` };
      }
      case "page":
        return { to: led.page.title };
    }
  }

  async #lead(led: Destination, host: string): Promise<Response> {
    const { own, others } = this.#state;
    const hasIt = ({ routes, buckets }: EdgeMember): boolean => {
      if (led.to === "script") return routes.includes(led.route);
      return led.to === "bucket" && buckets.some(({ bucketName }) => bucketName === led.bucketName);
    };
    if (led.to === "page") return this.#show(led.page);
    const other = hasIt(own) ? undefined : others.find(hasIt);
    if (other !== undefined) return this.#forward(other, host);
    // Miniflare's own paths are for the address of the script.
    const isTool = this.#outer.pathname.startsWith("/cdn-cgi/local/");
    if (led.to === "script" && isTool) return new Response("Not found\n", { status: 404 });

    const inner = new URL(this.#outer);
    inner.host = host;
    inner.port = "";
    const { headers } = this.#request;
    const set = platformHeaders({
      protocol: inner.protocol as EdgeUrl["protocol"],
      forwardedFor: headers.get("x-forwarded-for"),
      country: this.#state.settings.country,
      ray: crypto.randomUUID().replaceAll("-", "").slice(0, 16),
    });
    for (const [name, value] of Object.entries(set)) headers.set(name, value);
    return this.#translated(inner, () => this.#hand(led, inner));
  }

  async #hand(led: Exclude<Destination, { to: "page" }>, inner: URL): Promise<Response> {
    const { headers } = this.#request;
    const { otherScripts, entry, origins } = this.#env;
    if (led.to === "script") {
      headers.set(originalUrlHeader, inner.href);
      if (otherScripts.includes(led.script)) headers.set(routeHeader, led.script);
      return entry.fetch(this.#request);
    }
    if (led.to === "bucket") return this.#serveObject(led.bucketName, inner.pathname.slice(1));
    const { record, origins: addresses } = led;
    const protocol = inner.protocol === "https:" ? "https" : "http";
    const order = { host: inner.host, protocol, record, origins: addresses } as const;
    return origins.fetch(this.#outgoing(inner, originHeaders(order)));
  }

  /** To another dev server, which sees the request as this one did. */
  async #forward(member: EdgeMember, host: string): Promise<Response> {
    const hops = (this.#hops ?? 0) + 1;
    if (hops > hopsMax) return this.#show(loopPage(host));
    const outer = this.#outer;
    const url = new URL(outer.pathname + outer.search, member.url);
    const { origins, network } = this.#env;
    const entrance = entranceHeaders(member, outer.origin, hops);
    try {
      if (url.protocol === "http:") return await network.fetch(this.#outgoing(url, entrance));
      // wrangler signs its certificate itself. The origin server checks none of this machine.
      const { hostname, port } = url;
      const record = { name: host, type: "A", content: hostname, proxied: true };
      const origin = { address: "127.0.0.1", port: Number(port), protocol: "https" } as const;
      const order = { host: hostname, protocol: "https", record, origins: [origin] } as const;
      return await origins.fetch(this.#outgoing(url, { ...entrance, ...originHeaders(order) }));
    } catch {
      return this.#show(missingMemberPage(host, member));
    }
  }

  /** A request that leaves this runtime. */
  #outgoing(url: URL, own: Readonly<Record<string, string>>): Request {
    const request = new Request(url, this.#request);
    for (const name of new Map(request.headers).keys()) {
      if (name.startsWith("mf-")) request.headers.delete(name);
    }
    for (const [name, value] of Object.entries(own)) request.headers.set(name, value);
    return request;
  }

  #show(page: EdgePage): Response {
    const acceptsHtml = this.#request.headers.get("accept")?.includes("text/html") === true;
    const { body, contentType } = renderPage(page, acceptsHtml);
    const headers = { "content-type": contentType, "cache-control": "no-store" };
    return new Response(body, { status: page.status, headers });
  }
}

function missingMemberPage(host: string, { url, scripts, processId }: EdgeMember): EdgePage {
  return {
    status: 521,
    title: `The dev server of ${host} does not answer`,
    text:
      `${host} leads to another dev server of this state folder: process ${processId} at ${url}, with ` +
      `${scripts.join(", ")}. It does not answer. When it runs again, the name works again.`,
    hints: [],
    names: [],
  };
}

function translateHeaders(headers: Headers, names: Translation): void {
  for (const [name, value] of new Map(headers)) {
    if (name === originalUrlHeader || name === "set-cookie") continue;
    const changed = translateUrls(value, names);
    if (changed !== value) headers.set(name, changed);
  }
  const cookies = headers.getSetCookie();
  if (cookies.length === 0) return;
  headers.delete("set-cookie");
  for (const cookie of cookies) {
    headers.append("set-cookie", translateCookie(cookie, names));
  }
}
