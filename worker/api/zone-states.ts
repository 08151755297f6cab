/** The worker's endpoints of `src/dns/replication/listener-protocol.ts`: zones, and faults of queries. */
import type { FaultQuestion } from "../../src/dns/fault/query-fault.ts";
import {
  currentObservationPath,
  secretHeader,
  takeFaultPath,
  zonesPath,
} from "../../src/dns/replication/listener-protocol.ts";
import { isSameSecret } from "./access.ts";
import type { Env } from "../objects/environment.ts";
import { indexObject } from "../objects/index-object.ts";
import { currentObservation, takeQueryFault } from "../objects/query-observation.ts";
import { zoneObject } from "../objects/zone-object.ts";

const paths: ReadonlySet<string> = new Set([zonesPath, takeFaultPath, currentObservationPath]);

export function isReplicationPath(path: string): boolean {
  return paths.has(path) || path.startsWith(`${zonesPath}/`);
}

export async function serveState(request: Request, path: string, env: Env): Promise<Response> {
  const secret = request.headers.get(secretHeader);
  if (env.LISTENERS_SECRET === undefined || secret === null) return notFound();
  if (!isSameSecret(env.LISTENERS_SECRET, secret)) return notFound();
  if (path === currentObservationPath) return Response.json(currentObservation());
  if (path === takeFaultPath) {
    return Response.json(takeQueryFault(await request.json<FaultQuestion>()));
  }
  const index = indexObject(env);
  if (path === zonesPath) {
    // The record API reports the problems of declared zones.
    await index.declareZones();
    return Response.json(await index.ids());
  }
  const [zoneId = "", what, serial] = path.slice(zonesPath.length + 1).split("/");
  const zone = await index.get(zoneId);
  if (what === "changes" && zone !== null) {
    const changes = await zoneObject(env, zoneId).changesSince(Number(serial));
    return changes === null ? notFound() : Response.json(changes);
  }
  if (what === "serial" && zone !== null && request.method === "POST") {
    await zoneObject(env, zoneId).advanceSerial();
    return new Response(null, { status: 204 });
  }
  const state = zone === null ? null : await zoneObject(env, zoneId).state();
  return state === null ? notFound() : new Response(state as BodyInit);
}

function notFound(): Response {
  return new Response(null, { status: 404 });
}
