/**
 * The record API. The steps of a request: credentials, injected fault, route, zone, handler. An
 * expected failure is a ZoneError; any other error is logged and becomes "Internal error".
 */
import { readDnsConfig, type DnsConfig } from "../../src/dns/config/dns-config.ts";
import { apiFaultProblem, FaultPlan } from "../../src/dns/rules/api-fault.ts";
import type { Env } from "../objects/environment.ts";
import { indexObject } from "../objects/index-object.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { requestIdHeader } from "../../src/dns/rules/request-id.ts";
import {
  authenticate,
  hasCredentials,
  requireWriting,
  requireZone,
  stranger,
  type Access,
} from "./access.ts";
import { localAccount } from "./accounts.ts";
import { drainBody } from "./body.ts";
import { failure, respond } from "./envelope.ts";
import { controlFaults, faultControlPath } from "./fault-control.ts";
import { requireZonesFolder, zonesDiskSpace } from "../objects/zones-disk.ts";
import {
  controlSignatureFaults,
  endSignatureFaults,
  signatureFaultPath,
} from "./signature-fault-control.ts";
import { activityPath, controlActivity } from "./activity-control.ts";
import { callLog } from "./call-log.ts";
import {
  controlQueryFaults,
  controlQueryLog,
  queryFaultPath,
  queryLogPath,
} from "./query-fault-control.ts";
import { findRoute, publicPaths } from "./routes.ts";
import { ZoneCache } from "./zone-cache.ts";

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

  /** @param anonymous the access without credentials; `null` when credentials are required */
  serve(request: Request, anonymous: Access | null): Promise<Response> {
    return callLog.isFollowed
      ? callLog.record(request, () => this.#serveRequest(request, anonymous))
      : this.#serveRequest(request, anonymous);
  }

  async #serveRequest(request: Request, anonymous: Access | null): Promise<Response> {
    try {
      return await this.#serveOnDisk(request, anonymous);
    } catch (error) {
      if (error instanceof ZoneError) return failure(error.problems);
      console.error(error);
      return failure([problem.internal()]);
    } finally {
      await drainBody(request);
    }
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
    if (space === null || readingMethods.has(method)) return this.#serve(request, anonymous);
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
    const isPublic = publicPaths.has(path) && readingMethods.has(method);
    const granted = hasCredentials(headers) ? null : (anonymous ?? (isPublic ? stranger : null));
    const access = granted ?? authenticate(headers, this.#config);
    if (path === faultControlPath) return controlFaults(request, access, this);
    if (path === signatureFaultPath) return controlSignatureFaults(request, access, this.#env);
    if (path === queryFaultPath) return controlQueryFaults(request, access, this.#env);
    if (path === queryLogPath) return controlQueryLog(request, access, this.#env);
    if (path === activityPath) return controlActivity(request, url, access, this.#env);
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
    const handler = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
    if (handler === undefined) throw new ZoneError([problem.methodNotAllowed(method)]);
    await this.#declareZones();
    const zoneId = route.ids["zone"];
    if (zoneId !== undefined) {
      const zone = await this.#zones.find(this.#env, zoneId);
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
    if (!readingMethods.has(method)) requireWriting(access);
    const result = await handler({
      request,
      path,
      parameters: new Map(url.searchParams),
      ids: route.ids,
      access,
      env: this.#env,
      config: this.#config,
      account: localAccount(this.#config.email),
      zones: this.#zones,
      requestId,
    });
    const response = result instanceof Response ? result : respond(result, path);
    // The zone may have been deleted since it entered the cache.
    if (response.status === 404 && zoneId !== undefined) this.#zones.forget(zoneId);
    return response;
  }
}
