/** All operations of the record API, by path and method. A test compares the paths with `openapi.yaml`. */
import { encodeHex } from "../../src/base/hex.ts";
import { parseIpv4 } from "../../src/dns/record/ip-address.ts";
import { problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import { queriesPath } from "../../src/dns/replication/listener-protocol.ts";
import { unmodifiedHeader } from "../../src/dns/rules/api-call.ts";
import { acceptDnssecPatch } from "../../src/dns/rules/dnssec-state.ts";
import {
  describePage,
  readPage,
  readRecordQuery,
  readZoneQuery,
} from "../../src/dns/rules/list-query.ts";
import {
  makeReport,
  readReportRequest,
  type QueryCount,
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
  type Account,
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
import {
  isObject,
  readImportForm,
  readJson,
  success,
  type ApiCall,
  type JsonObject,
} from "./api-call.ts";

type Handlers = Readonly<
  Record<string, (call: ApiCall) => ObjectReply | Response | Promise<ObjectReply | Response>>
>;

const apiRoot = "/client/v4";

/** Calls that need no credentials, as in the deployed service. */
export const publicPaths: ReadonlySet<string> = new Set([`${apiRoot}/ips`]);

/** A local server has one user with one account; their ids never change. */
const accountId = "1ed9e0000000000000000000000acc01";
const userId = "1ed9e0000000000000000000000c5e01";

export function localAccount(email: string): Account {
  return { id: accountId, name: "Local", email };
}

const accountRoutes: Readonly<Record<string, Handlers>> = {
  "/user": {
    GET: ({ account }) =>
      replyWith({
        id: userId,
        email: account.email,
        first_name: null,
        last_name: null,
        telephone: null,
        country: null,
        zipcode: null,
        two_factor_authentication_enabled: false,
        suspended: false,
        organizations: [],
      }),
  },
  "/user/tokens/verify": {
    async GET({ access }) {
      if (access.token === null) throw new ZoneError([problem.invalidToken()]);
      const id = await shortHash(access.token);
      const messages = [{ code: 10000, message: "This API Token is valid and active", type: null }];
      return success(JSON.stringify({ id, status: "active" }), { messages });
    },
  },
  "/accounts": {
    /** Clients of the deployed service request page after page until a page is empty. */
    GET({ account, parameters }) {
      const perPage = { default: 20, max: 50 };
      const page = requireValid((report) => readPage(parameters, perPage, report));
      const name = parameters.get("name") ?? account.name;
      const found = name === account.name ? [describeAccount(account)] : [];
      const shown = page.page === 1 ? found : [];
      return replyWith(shown, describePage(page, shown.length, found.length));
    },
  },
  "/accounts/{account}": {
    GET({ account, ids, path }) {
      if (ids["account"] !== account.id) throw new ZoneError([problem.noRoute(path)]);
      return replyWith(describeAccount(account));
    },
  },
  /** The addresses of the platform, for firewalls of origins. */
  "/ips": {
    async GET({ config: { platformAddresses: addresses } }) {
      return replyWith({
        ipv4_cidrs: addresses.filter(isIpv4).map((address) => `${address}/32`),
        ipv6_cidrs: addresses.filter((address) => !isIpv4(address)).map((each) => `${each}/128`),
        etag: await shortHash(addresses.join(" ")),
      });
    },
  },
};

function isIpv4(address: string): boolean {
  return parseIpv4(address) !== null;
}

function describeAccount({ id, name }: Account): Record<string, unknown> {
  return { id, name, type: "standard", settings: { enforce_twofactor: false }, created_on: null };
}

async function shortHash(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return encodeHex(new Uint8Array(hash, 0, 16));
}

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
    async GET(call) {
      const request = requireValid((report) => readReportRequest(call.parameters, report));
      const { name } = await indexedZone(call);
      const none: readonly QueryCount[] = [];
      const ofListeners = await askListeners(call.env, queriesPath, null, none);
      return replyWith(makeReport([...isolateQueries.count(), ...ofListeners], name, request));
    },
  },
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
  if (name !== "posts" && operations.some(({ id }) => typeof id !== "string")) {
    throw new ZoneError([problem.requiredField("id")]);
  }
  return operations;
}

/** Ids are 32 hexadecimal digits; a setting has a name. */
const patterns: Readonly<Record<string, string>> = { setting: "[a-z0-9_]+" };

/** The first route that matches wins. */
const routes = Object.entries({ ...accountRoutes, ...zoneRoutes, ...recordRoutes }).map(
  ([template, methods]) => {
    const pattern = template.replaceAll(
      /\{(\w+)\}/g,
      (_, name: string) => `(?<${name}>${patterns[name] ?? "[0-9a-f]{32}"})`,
    );
    return { pattern: new RegExp(`^${apiRoot}${pattern}$`), methods };
  },
);

export function findRoute(
  path: string,
): { readonly methods: Handlers; readonly ids: ApiCall["ids"] } | null {
  for (const { pattern, methods } of routes) {
    const match = pattern.exec(path);
    if (match !== null) return { methods, ids: match.groups ?? {} };
  }
  return null;
}
