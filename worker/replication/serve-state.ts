/** The worker's half of `protocol.ts`: a listener asks for what zones there are, and what is in one. */
import { isSameSecret } from "../api/access.ts";
import { indexObject, zoneObject, type Env } from "../objects/environment.ts";
import { secretHeader, zonesPath } from "../../src/dns/replication/listener-protocol.ts";

export function isReplicationPath(path: string): boolean {
  return path === zonesPath || path.startsWith(`${zonesPath}/`);
}

export async function serveState(request: Request, path: string, env: Env): Promise<Response> {
  const secret = request.headers.get(secretHeader);
  if (env.LISTENERS_SECRET === undefined || secret === null) return absent();
  if (!isSameSecret(env.LISTENERS_SECRET, secret)) return absent();
  if (path === zonesPath) {
    const index = indexObject(env);
    // What is wrong with a declaration is said by the API.
    await index.declareZones();
    return Response.json(await index.ids());
  }
  const zoneId = path.slice(zonesPath.length + 1);
  const zone = await indexObject(env).get(zoneId);
  const state = zone === null ? null : await zoneObject(env, zoneId).state();
  return state === null ? absent() : new Response(state as BodyInit);
}

function absent(): Response {
  return new Response(null, { status: 404 });
}
