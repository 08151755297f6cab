/**
 * The companion worker: the DNS record API at /client/v4, and DNS over HTTPS at /dns-query.
 * `default` answers HTTP on a port: requests that a foreign web page could have sent are refused, and
 * the record API requires credentials. `DnsApi` is the same service for a script with a service
 * binding, which no page can reach. `LedgeDnsEndpoint` is `DnsApi` for other processes, at a Unix
 * socket in a folder that only the user can enter (`api-proxy.ts`, `src/dns/server/companion.ts`).
 * `LedgeDnsHttps` is `default` behind TLS, where the names of the certificate are hosts, too: a page
 * cannot have such a name from elsewhere, because its server would need a certificate.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import {
  corsHeaders,
  describeRefusal,
  refuseRequest,
  type HostRule,
  type RequestHead,
} from "../src/base/host-rule.ts";
import { readDnsConfig } from "../src/dns/config/dns-config.ts";
import type { FaultQuestion } from "../src/dns/fault/query-fault.ts";
import { problem } from "../src/dns/record/problem.ts";
import {
  currentObservationPath,
  secretHeader,
  stateLines,
  takeFaultPath,
  zonesPath,
} from "../src/dns/replication/listener-protocol.ts";
import { catalogId } from "../src/dns/rules/catalog.ts";
import { viewZone, zoneViewPath } from "../src/edge/zones/view-zone.ts";
import { isSameSecret, owner, type Access } from "./api/access.ts";
import { drainBody, failure } from "./api/api-call.ts";
import { acceptFaultPlan, layersPath, type LayerRequest } from "./api/controls.ts";
import { RecordApi } from "./api/record-api.ts";
import { dohPath, ownNamesPath, serveDoh } from "./doh/serve-doh.ts";
import { IndexObject, indexObject } from "./objects/index-object.ts";
import type { Env } from "./objects/object-call.ts";
import {
  currentObservation,
  leaveObservedLayer,
  loadZones,
  queryFaults,
  startQueryLog,
} from "./objects/query-observation.ts";
import { ZoneObject, zoneObject } from "./objects/zone-object.ts";
import { zoneTestSession } from "./objects/zone-test-session.ts";

export { IndexObject, ZoneObject };

/** One instance for the isolate: both entrypoints share its zone cache and its faults. */
let recordApi: RecordApi | null = null;

function sharedApi(env: Env): RecordApi {
  return (recordApi ??= new RecordApi(env));
}

async function serve(
  request: Request,
  env: Env,
  anonymous: Access | null,
  isHttps = false,
): Promise<Response> {
  try {
    if (anonymous !== null) return await dispatch(request, env, anonymous);
    const { hostRule, httpsNames } = readDnsConfig(env);
    const hosts = isHttps ? [...hostRule.hosts, ...httpsNames] : hostRule.hosts;
    return await serveFromPort(request, env, { ...hostRule, hosts });
  } catch (error) {
    // Only the configuration can fail outside `RecordApi.serve`; the reply says why.
    return failure([problem.configuration((error as Error).message)]);
  }
}

const hostRuleKeys = { hosts: "api_hosts of [dns]", origins: "api_origins of [dns]" };

/** Serves a request that arrived on a port if `base/host-rule.ts` accepts it. */
async function serveFromPort(request: Request, env: Env, rule: HostRule): Promise<Response> {
  const { method, headers } = request;
  const head: RequestHead = {
    method,
    host: headers.get("host"),
    origin: headers.get("origin"),
    requestedMethod: headers.get("access-control-request-method"),
  };
  const refusal = refuseRequest(head, rule);
  if (refusal !== null) {
    await drainBody(request);
    return refuse(request, describeRefusal(refusal, hostRuleKeys));
  }
  const added = Object.entries(corsHeaders(head, rule));
  if (added.length === 0) return dispatch(request, env, null);
  const isPreflight = method === "OPTIONS" && head.requestedMethod !== null;
  const response = isPreflight
    ? new Response(null, { status: 204 })
    : await dispatch(request, env, null);
  const granted = new Response(response.body, response);
  for (const [name, value] of added) granted.headers.set(name, value);
  return granted;
}

/** DNS over HTTPS has no envelope. */
function refuse({ url }: Request, reason: string): Response {
  const refused = problem.requestRefused(reason);
  if (new URL(url).pathname !== dohPath) return failure([refused]);
  return new Response(`${refused.message}\n`, { status: refused.status });
}

async function dispatch(request: Request, env: Env, anonymous: Access | null): Promise<Response> {
  const url = new URL(request.url);
  if (url.pathname === dohPath || url.pathname === ownNamesPath) {
    return serveDoh(request, url, env);
  }
  if (isListenersPath(url.pathname)) return serveListeners(request, url.pathname, env);
  return sharedApi(env).serve(request, anonymous);
}

export class DnsApi extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== zoneViewPath) return serve(request, this.env, owner);
    const view = viewZone(await loadZones(this.env), searchParams.get("host") ?? "");
    return view === null ? notFound() : Response.json(view);
  }

  setFaults(faults: unknown): void {
    sharedApi(this.env).faults = acceptFaultPlan(faults);
  }

  /**
   * For tests: `closeLayer` undoes all later writes.
   *
   * @param isSnapshot the layer is inside a test; the log of queries continues
   */
  async openLayer(layer: number, isSnapshot = false): Promise<void> {
    // The zones of the configuration exist for all tests, so no layer may contain their creation.
    // The first request reports their problems.
    if (zoneTestSession.layer === null)
      await sharedApi(this.env)
        .declareZones()
        .catch(() => {});
    zoneTestSession.open(layer, isSnapshot);
    if (!isSnapshot) await startQueryLog(this.env);
  }

  /** For tests. Queries by UDP and TCP are answered by the time of the machine. */
  advanceClock(milliseconds: number): void {
    zoneTestSession.clockOffsetMilliseconds += milliseconds;
  }

  /**
   * Closes a layer and the layers above it, and ends the faults that were set.
   *
   * @param next a layer to open afterwards
   */
  async closeLayer(layer: number, next?: number): Promise<void> {
    await sharedApi(this.env).endFaults();
    const zones = zoneTestSession.close(layer);
    if (zones.length > 0) {
      const index = indexObject(this.env);
      await index.leaveLayer(layer);
      const left = await Promise.all(zones.map((id) => zoneObject(this.env, id).leaveLayer(layer)));
      await index.rememberSerials(left.filter((undone) => undone !== null));
    }
    await leaveObservedLayer(this.env, layer);
    if (next !== undefined) await this.openLayer(next);
  }
}

export class LedgeDnsEndpoint extends DnsApi {
  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== layersPath) return super.fetch(request);
    const { open, close, next, isSnapshot } = await request.json<LayerRequest>();
    if (close !== undefined) await this.closeLayer(close, next);
    if (open !== undefined) await this.openLayer(open, isSnapshot);
    return new Response(null, { status: 204 });
  }
}

export class LedgeDnsHttps extends WorkerEntrypoint<Env> {
  override fetch(request: Request): Promise<Response> {
    return serve(request, this.env, null, true);
  }
}

export default {
  fetch: (request, env) => serve(request, env, null),
} satisfies ExportedHandler<Env>;

function isListenersPath(path: string): boolean {
  const isZones = path === zonesPath || path.startsWith(`${zonesPath}/`);
  return isZones || path === takeFaultPath || path === currentObservationPath;
}

/** What listeners ask for (`src/dns/replication/listener-protocol.ts`): zones, and faults of queries. */
async function serveListeners(request: Request, path: string, env: Env): Promise<Response> {
  const secret = request.headers.get(secretHeader);
  if (env.LISTENERS_SECRET === undefined || secret === null) return notFound();
  if (!isSameSecret(env.LISTENERS_SECRET, secret)) return notFound();
  if (path === currentObservationPath) return Response.json(await currentObservation(env));
  if (path === takeFaultPath) {
    return Response.json(queryFaults.take(await request.json<FaultQuestion>()));
  }
  const index = indexObject(env);
  if (path === zonesPath) {
    // The record API reports the problems of declared zones.
    await index.declareZones();
    const ids = await index.ids();
    const { catalog } = readDnsConfig(env);
    return Response.json(catalog === null ? ids : [...ids, catalogId]);
  }
  const [zoneId = "", what, serial] = path.slice(zonesPath.length + 1).split("/");
  if (zoneId === catalogId && what === undefined) {
    const catalog = await index.catalog();
    return catalog === null ? notFound() : new Response([...stateLines(catalog)].join(""));
  }
  const known = await index.get(zoneId);
  if (known === null) return notFound();
  const zone = zoneObject(env, zoneId);
  if (what === "serial") {
    await zone.advanceSerial();
    return new Response(null, { status: 204 });
  }
  if (what === "changes") {
    const changes = await zone.changesSince(Number(serial));
    return changes === null ? notFound() : Response.json(changes);
  }
  const state = await zone.state(known);
  return state === null ? notFound() : new Response(state as BodyInit);
}

function notFound(): Response {
  return new Response(null, { status: 404 });
}
