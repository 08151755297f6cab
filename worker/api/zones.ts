import { indexObject } from "../objects/environment.ts";
import { problem, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import { readZoneQuery } from "../../src/dns/rules/list/zone-query.ts";
import { acceptZoneName, acceptZoneType, describeZone } from "../../src/dns/rules/zone.ts";
import { requireAllZones } from "./access.ts";
import { readJson } from "./body.ts";
import type { Handler } from "./call.ts";
import { respond, success } from "./envelope.ts";

export const listZones: Handler = async ({ parameters, account, access, env, path }) => {
  const problems: Problem[] = [];
  const query = readZoneQuery(parameters, account, (found) => problems.push(found));
  if (problems.length > 0) throw new ZoneError(problems);
  return respond(await indexObject(env).list({ ...query, only: access.zones }, account), path);
};

export const createZone: Handler = async ({ request, access, account, env, path }) => {
  requireAllZones(access);
  const body = await readJson(request);
  const problems: Problem[] = [];
  const name = acceptZoneName(body["name"], (found) => problems.push(found));
  const type = acceptZoneType(body["type"], (found) => problems.push(found));
  if (problems.length > 0 || name === undefined) throw new ZoneError(problems);
  return respond(await indexObject(env).create({ name, type }, account), path);
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
