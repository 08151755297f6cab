/**
 * The way of a request: credentials, faults on demand, route, zone, handler. Expected failures
 * arrive here as ZoneErrors; anything else is logged and becomes "Internal error".
 */
import { readConfig, type DnsConfig } from "../../src/config/dns-config.ts";
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
import { drainBody } from "./body.ts";
import type { Call } from "./call.ts";
import { failure } from "./envelope.ts";
import { controlFaults, faultControlPath } from "./fault-control.ts";
import { localAccount } from "./identity.ts";
import { OpenZones } from "./open-zones.ts";
import { findRoute, type Route } from "./routes.ts";

export interface Origin {
  /** A service binding is given by whoever owns the zones: it needs no credentials, but may have some. */
  readonly trusted: boolean;
}

const reading = new Set(["GET", "HEAD"]);

export class Api {
  readonly #env: Env;
  readonly #config: DnsConfig;
  readonly #zones = new OpenZones();
  #declared = false;
  faults: FaultPlan;

  constructor(env: Env) {
    this.#env = env;
    this.#config = readConfig(env);
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
    return this.#fail(fault, () => this.#dispatch(request, url, path, access));
  }

  async #fail(fault: ApiFault, work: () => Promise<Response>): Promise<Response> {
    if (fault.delayMilliseconds > 0) await scheduler.wait(fault.delayMilliseconds);
    if (fault.status === null) return work();
    if (fault.when === "after") await (await work()).body?.cancel();
    return failure([apiFaultProblem(fault.status)]);
  }

  /** Back to the faults of the configuration. */
  endFaults(): void {
    this.faults = new FaultPlan(this.#config.faults);
  }

  /** Makes the zones of the configuration. What is wrong with them, the first request says. */
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
    if (!reading.has(method)) requireWriting(access);
    const call: Call = {
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
    const response = await handler(call);
    const zoneId = route.ids["zone"];
    // The zone may have been deleted since this isolate saw it.
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
