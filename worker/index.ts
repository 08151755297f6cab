/**
 * The companion worker: the DNS record API at /client/v4, and DNS over HTTPS at /dns-query.
 * `default` answers HTTP and wants credentials for the API; `DnsApi` is the same for a script that
 * has it as a service binding.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { acceptApiFaults } from "./api/fault-control.ts";
import { failure } from "./api/envelope.ts";
import { Api, type Origin } from "./api/serve.ts";
import { dohPath, serveDoh } from "./doh/serve.ts";
import { FaultPlan } from "../src/dns/rules/api-fault.ts";
import type { Env } from "./objects/environment.ts";
import { isReplicationPath, serveState } from "./replication/serve-state.ts";
import { testSession } from "./objects/test-session.ts";
import { problem } from "../src/dns/record/problem.ts";

export { IndexObject } from "./objects/index-object.ts";
export { ZoneObject } from "./objects/zone-object.ts";

/** One for the isolate: both entrypoints see the same zones and the same faults. */
let shared: Api | null = null;

function api(env: Env): Api {
  shared ??= new Api(env);
  return shared;
}

async function answer(request: Request, env: Env, origin: Origin): Promise<Response> {
  try {
    const url = new URL(request.url);
    if (url.pathname === dohPath) return await serveDoh(request, url, env);
    if (isReplicationPath(url.pathname)) return await serveState(request, url.pathname, env);
    return await api(env).serve(request, origin);
  } catch (error) {
    // Only the configuration can fail outside `serve`, and whoever wrote it should read why.
    return failure([problem.configuration((error as Error).message)]);
  }
}

export class DnsApi extends WorkerEntrypoint<Env> {
  override fetch(request: Request): Promise<Response> {
    return answer(request, this.env, { trusted: true });
  }

  /** The test control for scripts: replaces the faults in force. */
  setFaults(faults: unknown): void {
    api(this.env).faults = new FaultPlan(acceptApiFaults(faults));
  }

  /** For tests: what is written from now on is undone when the layer is closed. */
  async openLayer(layer: number): Promise<void> {
    // The zones of the configuration are there for all tests, not only for the first that asks.
    if (testSession.layer === null) await api(this.env).prepare();
    testSession.open(layer);
  }

  /**
   * Closes a layer and those above it, and the faults that were set.
   *
   * @param next a layer to open then
   */
  async closeLayer(layer: number, next?: number): Promise<void> {
    api(this.env).endFaults();
    await testSession.close(layer, this.env);
    if (next !== undefined) await this.openLayer(next);
  }
}

export default {
  fetch: (request, env) => answer(request, env, { trusted: false }),
} satisfies ExportedHandler<Env>;
