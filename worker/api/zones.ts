/** /zones. */
import { indexObject } from "../objects/environment.ts";
import { problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import { readZoneQuery } from "../../src/dns/rules/list/zone-query.ts";
import { acceptZoneName, acceptZoneType, describeZone } from "../../src/dns/rules/zone.ts";
import { requireAllZones } from "./access.ts";
import { readJson } from "./body.ts";
import type { Handler } from "./api-call.ts";
import { respond, success } from "./envelope.ts";

export const listZones: Handler = async ({ parameters, account, access, env, path }) => {
  const query = requireValid((report) => readZoneQuery(parameters, account, report));
  return respond(await indexObject(env).list({ ...query, only: access.zones }, account), path);
};

export const createZone: Handler = async ({ request, access, account, env, path }) => {
  requireAllZones(access);
  const body = await readJson(request);
  const zone = requireValid((report) => {
    const name = acceptZoneName(body["name"], report);
    const type = acceptZoneType(body["type"], report);
    return name === undefined ? undefined : { name, type };
  });
  return respond(await indexObject(env).create(zone, account), path);
};

export const getZone: Handler = async ({ ids, account, env, path }) => {
  const zone = await indexObject(env).get(ids["zone"]!);
  if (zone === null) throw new ZoneError([problem.noRoute(path)]);
  return success(JSON.stringify(describeZone(zone, account)));
};

export const editZone: Handler = async ({ request, ids, account, env, path }) => {
  const body = await readJson(request);
  return respond(await indexObject(env).edit(ids["zone"]!, body, account), path);
};

export const deleteZone: Handler = async ({ ids, access, env, path, zones }) => {
  requireAllZones(access);
  zones.forget(ids["zone"]!);
  return respond(await indexObject(env).remove(ids["zone"]!), path);
};
