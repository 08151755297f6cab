/**
 * The record API. The steps of a request: credentials, injected fault, route, zone, handler. An
 * expected failure is a ZoneError; any other error is logged and becomes "Internal error".
 */
import { readDnsConfig, type DnsConfig } from "../../src/dns/config/dns-config.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { apiFaultProblem, FaultPlan, requestIdHeader } from "../../src/dns/rules/api-call.ts";
import type { Zone } from "../../src/dns/rules/zone.ts";
import { indexObject } from "../objects/index-object.ts";
import type { Env } from "../objects/object-call.ts";
import { zoneObject } from "../objects/zone-object.ts";
import { requireZonesFolder, zonesDiskSpace } from "../objects/object-database.ts";
import {
  authenticate,
  hasCredentials,
  isReading,
  requireMethod,
  requireZone,
  stranger,
  type Access,
} from "./access.ts";
import { localAccount } from "./account.ts";
import { drainBody, failure, findMethod, respond } from "./api-call.ts";
import { callLog } from "./call-log.ts";
import { endSignatureFaults, isControlPath, serveControl } from "./controls.ts";
import { findRoute, publicPaths } from "./operations.ts";

/** At this number the cache of zones is emptied. */
const cachedZonesMax = 10_000;

export class RecordApi {
  readonly #env: Env;
  readonly #config: DnsConfig;
  /**
   * The zones that this isolate has found in the index: saves a call to the index for every request.
   * When a zone is deleted later, its object reports that, and the cache forgets the zone.
   */
  readonly #zones = new Map<string, Pick<Zone, "id" | "name">>();
  #declared = false;
  faults: FaultPlan;

  constructor(env: Env) {
    this.#env = env;
    this.#config = readDnsConfig(env);
    this.faults = new FaultPlan(this.#config.faults);
  }

  /** @param anonymous the access without credentials; `null` when credentials are required */
  async serve(request: Request, anonymous: Access | null): Promise<Response> {
    const start = Date.now();
    let response: Response;
    try {
      response = await this.#serveOnDisk(request, anonymous);
    } catch (error) {
      if (!(error instanceof ZoneError)) console.error(error);
      response = failure(error instanceof ZoneError ? error.problems : [problem.internal()]);
    }
    await drainBody(request);
    if (callLog.isFollowed) await callLog.add(request, response, start);
    return response;
  }

  /**
   * A commit that fails ends the zone object, and its caller gets an error without a reason. If the
   * device of the zones is the reason, reads and deletes are repeated with the space of the
   * reserve, and other writes fail with a problem that names the device.
   */
  async #serveOnDisk(request: Request, anonymous: Access | null): Promise<Response> {
    requireZonesFolder();
    const space = zonesDiskSpace(this.#env);
    const { method } = request;
    if (space === null || isReading(method)) return this.#serve(request, anonymous);
    if (space.isFull) {
      const reason = method === "DELETE" ? null : await space.findProblem();
      if (reason !== null) throw new ZoneError([problem.storage(reason.text)]);
      await space.releaseReserve();
    }
    try {
      return await this.#serve(request, anonymous);
    } catch (error) {
      if (error instanceof ZoneError) throw error;
      const reason = await space.findProblem();
      if (reason === null) throw error;
      if (method !== "DELETE" || !space.isFull) throw new ZoneError([problem.storage(reason.text)]);
      await space.releaseReserve();
      return await this.#serve(request, anonymous);
    } finally {
      if (space.isFull) await space.findProblem();
    }
  }

  async #serve(request: Request, anonymous: Access | null): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname.replace(/(?<=.)\/+$/, "");
    const { method, headers } = request;
    const isPublic = publicPaths.has(path) && isReading(method);
    const granted = hasCredentials(headers) ? null : (anonymous ?? (isPublic ? stranger : null));
    const access = granted ?? authenticate(headers, this.#config);
    if (isControlPath(path)) {
      const call = { request, parameters: url.searchParams, env: this.#env, api: this };
      return serveControl(path, access, call);
    }
    // Clients on the port choose their headers, and have no ids.
    const requestId = anonymous === null ? null : headers.get(requestIdHeader);
    const dispatch = () => this.#dispatch(request, url, path, access, requestId);
    const fault = this.faults.take({ method, path });
    if (fault === null) return dispatch();
    if (fault.delayMilliseconds > 0) await scheduler.wait(fault.delayMilliseconds);
    if (fault.status === null) return dispatch();
    if (fault.when === "after") await (await dispatch()).body?.cancel();
    return failure([apiFaultProblem(fault.status)]);
  }

  /** Restores the faults of the configuration, and mends signatures. */
  async endFaults(): Promise<void> {
    this.faults = new FaultPlan(this.#config.faults);
    await endSignatureFaults(this.#env);
  }

  async declareZones(): Promise<void> {
    if (this.#declared) return;
    const problems = await indexObject(this.#env).declareZones();
    if (problems.length > 0) throw new ZoneError(problems);
    this.#declared = true;
  }

  async #findZone(id: string): Promise<Pick<Zone, "id" | "name"> | null> {
    const seen = this.#zones.get(id);
    if (seen !== undefined) return seen;
    const zone = await indexObject(this.#env).get(id);
    if (zone === null) return null;
    // Completes a zone whose creation was interrupted after its entry in the index.
    await zoneObject(this.#env, id).open(zone);
    if (this.#zones.size >= cachedZonesMax) this.#zones.clear();
    this.#zones.set(id, { id, name: zone.name });
    return zone;
  }

  async #dispatch(
    request: Request,
    url: URL,
    path: string,
    access: Access,
    requestId: string | null,
  ): Promise<Response> {
    const route = findRoute(path);
    if (route === null) throw new ZoneError([problem.noRoute(path)]);
    const { method } = request;
    const handler = findMethod(route.methods, method);
    await this.declareZones();
    const account = localAccount(this.#config.email);
    const { zone: zoneId, account: accountId = account.id } = route.ids;
    if (accountId !== account.id) throw new ZoneError([problem.noRoute(path)]);
    if (zoneId !== undefined) {
      const zone = await this.#findZone(zoneId);
      if (zone === null) {
        const reply =
          method === "DELETE" && requestId !== null
            ? await indexObject(this.#env).repeatRemoval(zoneId, requestId)
            : null;
        if (reply === null) throw new ZoneError([problem.noRoute(path)]);
        return respond(reply, path);
      }
      requireZone(access, zone);
    }
    requireMethod(access, method);
    const result = await handler({
      request,
      path,
      parameters: new Map(url.searchParams),
      ids: route.ids,
      access,
      env: this.#env,
      config: this.#config,
      account,
      requestId,
    });
    const response = result instanceof Response ? result : respond(result, path);
    // The call may have deleted the zone, or another call since the zone entered the cache.
    const isGone = response.status === 404 || (method === "DELETE" && path.endsWith(zoneId ?? "/"));
    if (isGone && zoneId !== undefined) this.#zones.delete(zoneId);
    return response;
  }
}
