/** /zones. */
import { indexObject } from "../objects/index-object.ts";
import { problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import { readZoneQuery } from "../../src/dns/rules/list-query.ts";
import { acceptZoneName, acceptZoneType, describeZone } from "../../src/dns/rules/zone.ts";
import { requireAllZones } from "./access.ts";
import { readJson } from "./body.ts";
import type { Handlers } from "./api-call.ts";
import { replyWith } from "../objects/object-reply.ts";

const purgeFields = ["files", "tags", "hosts", "prefixes"];

export const zoneHandlers = {
  list: async ({ parameters, account, access, env }) => {
    const query = requireValid((report) => readZoneQuery(parameters, account, report));
    return indexObject(env).list({ ...query, only: access.zones }, account);
  },

  create: async ({ request, access, account, env, requestId }) => {
    requireAllZones(access);
    const body = await readJson(request);
    const zone = requireValid((report) => {
      const name = acceptZoneName(body["name"], report);
      const type = acceptZoneType(body["type"], report);
      return name === undefined ? undefined : { name, type };
    });
    return indexObject(env).create(zone, account, requestId);
  },

  get: async ({ ids, account, env, path }) => {
    const zone = await indexObject(env).get(ids["zone"]!);
    if (zone === null) throw new ZoneError([problem.noRoute(path)]);
    return replyWith(describeZone(zone, account));
  },

  edit: async ({ request, ids, account, env, requestId }) =>
    indexObject(env).edit(ids["zone"]!, await readJson(request), account, requestId),

  remove: async ({ ids, access, env, zones, requestId }) => {
    requireAllZones(access);
    zones.forget(ids["zone"]!);
    return indexObject(env).remove(ids["zone"]!, requestId);
  },

  /** A zone is active at once. */
  checkActivation: async ({ ids }) => replyWith({ id: ids["zone"]! }),

  /** There is no cache; the request must be valid all the same. */
  purgeCache: async ({ request, ids }) => {
    const body = await readJson(request);
    const isList = (field: string): boolean => Array.isArray(body[field]) && body[field].length > 0;
    if (body["purge_everything"] !== true && !purgeFields.some(isList)) {
      throw new ZoneError([problem.purgeEmpty()]);
    }
    return replyWith({ id: ids["zone"]! });
  },
} satisfies Handlers;
