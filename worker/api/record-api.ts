/**
 * The record API. The steps of a request: credentials, injected fault, route, zone, handler. An
 * expected failure is a ZoneError; any other error is logged and becomes "Internal error".
 */
import { readDnsConfig, type DnsConfig } from "../../src/config/dns-config.ts";
import { apiFaultProblem, FaultPlan, type ApiFault } from "../../src/dns/rules/api-fault.ts";
import { indexObject, type Env } from "../objects/environment.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import {
  authenticate,
  hasCredentials,
  owner,
  requireWriting,
  requireZone,
  type Access,
} from "./access.ts";
import { localAccount } from "./accounts.ts";
import type { ApiCall } from "./api-call.ts";
import { drainBody } from "./body.ts";
import { failure, respond } from "./envelope.ts";
import { controlFaults, faultControlPath } from "./fault-control.ts";
import { findRoute, type Route } from "./routes.ts";
import { ZoneCache } from "./zone-cache.ts";

export interface Origin {
  /** Whether requests without credentials have all rights, as those of a service binding do. */
  readonly trusted: boolean;
}

const readingMethods = new Set(["GET", "HEAD"]);

export class RecordApi {
  readonly #env: Env;
  readonly #config: DnsConfig;
  readonly #zones = new ZoneCache();
  #declared = false;
  faults: FaultPlan;

  constructor(env: Env) {
    this.#env = env;
    this.#config = readDnsConfig(env);
    this.faults = new FaultPlan(this.#config.faults);
  }

  async serve(request: Request, origin: Origin): Promise<Response> {
    try {
      return await this.#serve(request, origin);
    } catch (error) {
      if (error instanceof ZoneError) return failure(error.problems);
      console.error(error);
      return failure([problem.internal()]);
    } finally {
      await drainBody(request);
    }
  }

  async #serve(request: Request, origin: Origin): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname.replace(/(?<=.)\/+$/, "");
    const { method } = request;
    const anonymous = origin.trusted && !hasCredentials(request.headers);
    const access = anonymous ? owner : authenticate(request.headers, this.#config);
    if (path === faultControlPath) return controlFaults(request, access, this);
    const fault = this.faults.take({ method, path });
    if (fault === null) return this.#dispatch(request, url, path, access);
    return this.#applyFault(fault, () => this.#dispatch(request, url, path, access));
  }

  async #applyFault(fault: ApiFault, work: () => Promise<Response>): Promise<Response> {
    if (fault.delayMilliseconds > 0) await scheduler.wait(fault.delayMilliseconds);
    if (fault.status === null) return work();
    if (fault.when === "after") await (await work()).body?.cancel();
    return failure([apiFaultProblem(fault.status)]);
  }

  /** Restores the faults of the configuration. */
  endFaults(): void {
    this.faults = new FaultPlan(this.#config.faults);
  }

  /** Creates the zones of the configuration. The first request reports their problems. */
  async prepare(): Promise<void> {
    await this.#declareZones().catch(() => {});
  }

  async #declareZones(): Promise<void> {
    if (this.#declared) return;
    const problems = await indexObject(this.#env).declareZones();
    if (problems.length > 0) throw new ZoneError(problems);
    this.#declared = true;
  }

  async #dispatch(request: Request, url: URL, path: string, access: Access): Promise<Response> {
    const route = findRoute(path);
    if (route === null) throw new ZoneError([problem.noRoute(path)]);
    const { method } = request;
    const handler = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
    if (handler === undefined) throw new ZoneError([problem.methodNotAllowed(method)]);
    await this.#declareZones();
    await this.#checkZone(route, path, access);
    if (!readingMethods.has(method)) requireWriting(access);
    const call: ApiCall = {
      request,
      path,
      parameters: new Map(url.searchParams),
      ids: route.ids,
      access,
      env: this.#env,
      config: this.#config,
      account: localAccount(this.#config.email),
      zones: this.#zones,
    };
    const result = await handler(call);
    const response = result instanceof Response ? result : respond(result, path);
    const zoneId = route.ids["zone"];
    // The zone may have been deleted since it entered the cache.
    if (response.status === 404 && zoneId !== undefined) this.#zones.forget(zoneId);
    return response;
  }

  async #checkZone({ ids }: Route, path: string, access: Access): Promise<void> {
    const zoneId = ids["zone"];
    if (zoneId === undefined) return;
    const zone = await this.#zones.find(this.#env, zoneId);
    if (zone === null) throw new ZoneError([problem.noRoute(path)]);
    requireZone(access, zone);
  }
}
