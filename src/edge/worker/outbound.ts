/**
 * The `fetch()` of scripts, on its way to the internet:
 *
 *     script ── fetch() ─▶ Miniflare's interceptor ──▶ outbound ─┬▶ the edge, for names that it leads
 *                                                                └▶ the internet
 *
 * The interceptor has set `CF-Worker`. What the edge does not lead passes as it is: other names and addresses, and
 * sockets (`connect()`), which the runtime passes on itself. The zones are asked for each name, but not for
 * addresses and `localhost`.
 *
 * A script that asks for itself can do so without end. If it passes the headers on, `CDN-Loop` counts. Else the
 * requests that wait count, because each waits for the next. Deviation: the deployed platform counts invocations.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { edgeHost, type EdgeUrl } from "../core/destination.ts";
import { addPassage, countPassages, passagesMax } from "../core/origin-request.ts";
import { outbound, type OutboundCaller } from "../core/outbound.ts";
import { loopPage } from "../core/pages.ts";
import { findZone, leadFetch, stateOf, type EdgeEnv } from "./edge-worker.ts";

/** No script asks for one URL of its own so often at once. */
const waitingMax = 64;
/** The requests of scripts to themselves that have no answer yet, by URL. */
const waiting = new Map<string, number>();

/** The properties name the script: each script has a reference of its own to this entrypoint. */
export class LedgeOutbound extends WorkerEntrypoint<EdgeEnv, OutboundCaller> {
  override async fetch(request: Request): Promise<Response> {
    const { env } = this;
    const caller = this.ctx.props;
    const { table } = stateOf(env);
    const { protocol, host: authority, port, pathname, search } = new URL(request.url);
    const host = edgeHost(authority, table.buckets);
    if (host === null) return fetch(request);
    const url = { protocol, host, path: pathname + search } as EdgeUrl;
    const led = outbound(url, caller, table, await findZone(host, env));
    if (led === null) return fetch(request);
    if (led.to === "origin") {
      // The edge has the ports of the protocols. A record that is not proxied leads to any port.
      const given = led.record.proxied || port === "" ? null : Number(port);
      const origins = led.origins.map((origin) => ({ ...origin, port: origin.port ?? given }));
      return leadFetch(request, { led: { ...led, origins }, url, env });
    }
    const cdnLoop = request.headers.get("cdn-loop") ?? "";
    const before = waiting.get(request.url) ?? 0;
    if (countPassages(cdnLoop) >= passagesMax || before >= waitingMax) {
      return leadFetch(request, { led: { to: "page", page: loopPage(host) }, url, env });
    }
    const headers = new Headers(request.headers);
    headers.set("cdn-loop", addPassage(cdnLoop));
    const isOwn = led.to === "script" && led.script === caller.script;
    if (isOwn) waiting.set(request.url, before + 1);
    try {
      return await leadFetch(new Request(request, { headers }), { led, url, env });
    } finally {
      if (isOwn) leave(request.url);
    }
  }
}

function leave(url: string): void {
  const count = (waiting.get(url) ?? 1) - 1;
  if (count > 0) waiting.set(url, count);
  else waiting.delete(url);
}
