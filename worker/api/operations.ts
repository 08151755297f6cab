/** All operations of the record API, by path and method. A test compares them with `openapi.yaml`. */
import { atPlace, problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import { queriesPath } from "../../src/dns/replication/listener-protocol.ts";
import { unmodifiedHeader } from "../../src/dns/rules/api-call.ts";
import { acceptDnssecPatch } from "../../src/dns/rules/dnssec-state.ts";
import { readRecordQuery, readZoneQuery } from "../../src/dns/rules/list-query.ts";
import {
  inOneInterval,
  makeReport,
  readInterval,
  readReportRequest,
  type QueryCount,
  type QueryReport,
} from "../../src/dns/rules/query-report.ts";
import {
  checkSetting,
  findSettingName,
  type SettingName,
} from "../../src/dns/rules/zone-settings.ts";
import {
  acceptZoneName,
  acceptZoneType,
  describeZone,
  plan,
  type Zone,
} from "../../src/dns/rules/zone.ts";
import { indexObject } from "../objects/index-object.ts";
import { replyWith, type ObjectReply } from "../objects/object-call.ts";
import {
  recordWriteKinds,
  zoneObject,
  type RecordWrite,
  type SettingChange,
} from "../objects/zone-object.ts";
import { askListeners, isolateQueries } from "../replication/replicas.ts";
import { requireAllZones } from "./access.ts";
import { absentRoutes, accountRoutes, pageOf } from "./account.ts";
import {
  isObject,
  readImportForm,
  readJson,
  type ApiCall,
  type Handlers,
  type JsonObject,
} from "./api-call.ts";

const apiRoot = "/client/v4";

/** Calls that need no credentials, as in the deployed service. */
export const publicPaths: ReadonlySet<string> = new Set([`${apiRoot}/ips`]);

const purgeFields = ["files", "tags", "hosts", "prefixes"];

const zoneRoutes: Readonly<Record<string, Handlers>> = {
  "/zones": {
    GET({ parameters, account, access, env }) {
      const query = requireValid((report) => readZoneQuery(parameters, account, report));
      return indexObject(env).list({ ...query, only: access.zones }, account);
    },
    async POST({ request, access, account, env, requestId }) {
      requireAllZones(access);
      const body = await readJson(request);
      const zone = requireValid((report) => {
        const name = acceptZoneName(body["name"], report);
        const type = acceptZoneType(body["type"], report);
        return name === undefined ? undefined : { name, type };
      });
      return indexObject(env).create(zone, account, requestId);
    },
  },
  "/zones/{zone}": {
    GET: async (call) => replyWith(describeZone(await indexedZone(call), call.account)),
    PATCH: async ({ request, ids, account, env, requestId }) =>
      indexObject(env).edit(ids["zone"]!, await readJson(request), account, requestId),
    DELETE({ ids, access, env, requestId }) {
      requireAllZones(access);
      return indexObject(env).remove(ids["zone"]!, requestId);
    },
  },
  /** A zone is active at once. */
  "/zones/{zone}/activation_check": { PUT: ({ ids }) => replyWith({ id: ids["zone"]! }) },
  "/zones/{zone}/purge_cache": {
    /** There is no cache; the request must be valid all the same. */
    async POST({ request, ids }) {
      const body = await readJson(request);
      const isList = (field: string): boolean =>
        Array.isArray(body[field]) && body[field].length > 0;
      if (body["purge_everything"] !== true && !purgeFields.some(isList)) {
        throw new ZoneError([problem.purgeEmpty()]);
      }
      return replyWith({ id: ids["zone"]! });
    },
  },
  "/zones/{zone}/dns_analytics/report": {
    GET: async (call) => replyWith(await reportQueries(call)),
  },
  "/zones/{zone}/dns_analytics/report/bytime": {
    async GET(call) {
      const now = Date.now();
      const interval = requireValid((report) => readInterval(call.parameters, now, report));
      return replyWith(inOneInterval(await reportQueries(call), interval));
    },
  },
  "/zones/{zone}/available_plans": { GET: ({ parameters }) => pageOf([plan], parameters) },
  "/zones/{zone}/dns_settings": {
    GET: (call) => zoneOf(call).readSettings(),
    PATCH: async (call) =>
      zoneOf(call).changeSettings(await readJson(call.request), call.requestId),
  },
  "/zones/{zone}/settings": {
    GET: (call) => zoneOf(call).readZoneSettings(),
    async PATCH(call) {
      const { items } = await readJson(call.request);
      if (!Array.isArray(items) || !items.every(isObject)) {
        throw new ZoneError([problem.notAList("items", "objects")]);
      }
      const changes = items.map(({ id, value }) => {
        const name = findSettingName(id);
        if (name === null) throw new ZoneError([problem.settingUnknown(JSON.stringify(id))]);
        return acceptChange(name, value);
      });
      return zoneOf(call).changeZoneSettings(changes, true, call.requestId);
    },
  },
  "/zones/{zone}/settings/{setting}": {
    GET: (call) => zoneOf(call).readZoneSetting(readSettingName(call)),
    async PATCH(call) {
      const name = readSettingName(call);
      const { value } = await readJson(call.request);
      return zoneOf(call).changeZoneSettings([acceptChange(name, value)], false, call.requestId);
    },
  },
  "/zones/{zone}/dnssec": {
    GET: (call) => zoneOf(call).readDnssec(),
    async PATCH(call) {
      const body = await readJson(call.request);
      const patch = requireValid((report) => acceptDnssecPatch(body, report));
      return zoneOf(call).changeDnssec(patch);
    },
    DELETE: (call) => zoneOf(call).removeDnssec(),
  },
};

async function reportQueries(call: ApiCall): Promise<QueryReport> {
  const request = requireValid((report) => readReportRequest(call.parameters, report));
  const { name } = await indexedZone(call);
  const none: readonly QueryCount[] = [];
  const ofListeners = await askListeners(call.env, queriesPath, null, none);
  return makeReport([...isolateQueries.count(), ...ofListeners], name, request);
}

function zoneOf({ env, ids }: ApiCall): ReturnType<typeof zoneObject> {
  return zoneObject(env, ids["zone"]!);
}

async function indexedZone({ env, ids, path }: ApiCall): Promise<Zone> {
  const zone = await indexObject(env).get(ids["zone"]!);
  if (zone === null) throw new ZoneError([problem.noRoute(path)]);
  return zone;
}

function readSettingName({ ids, path }: ApiCall): SettingName {
  const found = findSettingName(ids["setting"]);
  if (found === null) throw new ZoneError([problem.noRoute(path)]);
  return found;
}

function acceptChange(name: SettingName, value: unknown): SettingChange {
  const found = checkSetting(name, value);
  if (found !== null) throw new ZoneError([found]);
  return { name, value };
}

const recordRoutes: Readonly<Record<string, Handlers>> = {
  "/zones/{zone}/dns_records": {
    GET: (call) =>
      zoneOf(call).list(requireValid((report) => readRecordQuery(call.parameters, report))),
    POST: async (call) =>
      zoneOf(call).writeRecord("posts", await readJson(call.request), call.requestId),
  },
  "/zones/{zone}/dns_records/batch": {
    async POST(call) {
      const body = await readJson(call.request);
      const parts = recordWriteKinds.map((kind) => [kind, readBatch(body, kind)] as const);
      const batch = Object.fromEntries(parts) as Record<RecordWrite, readonly JsonObject[]>;
      const { batchQuota } = call.config;
      const count = Object.values(batch).flat().length;
      if (count === 0) throw new ZoneError([problem.batchEmpty()]);
      if (count > batchQuota) throw new ZoneError([problem.batchQuota(batchQuota)]);
      return zoneOf(call).batch(batch, call.requestId);
    },
  },
  "/zones/{zone}/dns_records/export": {
    async GET(call) {
      const reply = await zoneOf(call).exportFile();
      if (!reply.ok) return reply;
      const headers = { "content-type": "text/plain; charset=utf-8" };
      return new Response(JSON.parse(reply.json) as string, { headers });
    },
  },
  "/zones/{zone}/dns_records/import": {
    async POST(call) {
      const { text, proxied } = await readImportForm(call.request);
      return zoneOf(call).importFile(text, proxied, call.requestId);
    },
  },
  /** Deviation: a scan finds nothing, because a local zone has no earlier name servers. */
  "/zones/{zone}/dns_records/scan": {
    POST: () => replyWith({ recs_added: 0, recs_added_by_type: {}, total_records_parsed: 0 }),
  },
  "/zones/{zone}/dns_records/scan/trigger": { POST: () => replyWith(null) },
  "/zones/{zone}/dns_records/scan/review": {
    GET: () => replyWith([]),
    POST: () => replyWith({ accepts: [], rejects: [] }),
  },
  "/zones/{zone}/dns_records/usage": { GET: (call) => zoneOf(call).usage() },
  "/zones/{zone}/dns_records/{record}": {
    GET: (call) => zoneOf(call).get(call.ids["record"]!),
    PUT: async (call) => writeRecord(call, "puts", await readJson(call.request)),
    PATCH: async (call) => writeRecord(call, "patches", await readJson(call.request)),
    DELETE: (call) => writeRecord(call, "deletes", {}),
  },
};

function writeRecord(call: ApiCall, kind: RecordWrite, body: JsonObject): Promise<ObjectReply> {
  const request = { ...body, id: call.ids["record"]! };
  const unmodified = call.request.headers.get(unmodifiedHeader);
  return zoneOf(call).writeRecord(kind, request, call.requestId, unmodified);
}

function readBatch(body: JsonObject, name: RecordWrite): readonly JsonObject[] {
  const operations = body[name] ?? [];
  if (!Array.isArray(operations) || !operations.every(isObject)) {
    throw new ZoneError([problem.notAList(name, "objects")]);
  }
  const nameless = operations.findIndex(({ id }) => typeof id !== "string");
  if (name !== "posts" && nameless >= 0) {
    throw new ZoneError([atPlace(problem.requiredField("id"), `${name}[${nameless}]`)]);
  }
  return operations;
}

/** Ids are 32 hexadecimal digits; a setting has a name. */
const patterns: Readonly<Record<string, string>> = { setting: "[a-z0-9_]+" };

/** @public for the test that compares them with `openapi.yaml` */
export const operations = { ...accountRoutes, ...zoneRoutes, ...recordRoutes, ...absentRoutes };

/** The first route that matches wins. */
const routes = Object.entries(operations).map(([template, methods]) => {
  const pattern = template.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => `(?<${name}>${patterns[name] ?? "[0-9a-f]{32}"})`,
  );
  return { pattern: new RegExp(`^${apiRoot}${pattern}$`), methods };
});

export function findRoute(
  path: string,
): { readonly methods: Handlers; readonly ids: ApiCall["ids"] } | null {
  for (const { pattern, methods } of routes) {
    const match = pattern.exec(path);
    if (match !== null) return { methods, ids: match.groups ?? {} };
  }
  return null;
}
