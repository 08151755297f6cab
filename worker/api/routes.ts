/** All operations of the record API. A test compares them with `openapi.yaml`. */
import { getAccount, getUser, listAccounts, verifyToken } from "./accounts.ts";
import type { Handler } from "./api-call.ts";
import {
  batchRecords,
  createRecord,
  deleteRecord,
  editRecord,
  exportRecords,
  getRecord,
  importRecords,
  listRecords,
  overwriteRecord,
  showUsage,
} from "./records.ts";
import {
  editDnsSettings,
  editSetting,
  getDnsSettings,
  getSetting,
  listSettings,
} from "./settings.ts";
import { createZone, deleteZone, editZone, getZone, listZones } from "./zones.ts";

export const apiRoot = "/client/v4";

type Methods = Readonly<Record<string, Handler>>;

/** The first row that matches wins. */
export const routes: Readonly<Record<string, Methods>> = {
  "/user": { GET: getUser },
  "/user/tokens/verify": { GET: verifyToken },
  "/accounts": { GET: listAccounts },
  "/accounts/{account}": { GET: getAccount },
  "/zones": { GET: listZones, POST: createZone },
  "/zones/{zone}": { GET: getZone, PATCH: editZone, DELETE: deleteZone },
  "/zones/{zone}/dns_settings": { GET: getDnsSettings, PATCH: editDnsSettings },
  "/zones/{zone}/settings": { GET: listSettings },
  "/zones/{zone}/settings/{setting}": { GET: getSetting, PATCH: editSetting },
  "/zones/{zone}/dns_records": { GET: listRecords, POST: createRecord },
  "/zones/{zone}/dns_records/batch": { POST: batchRecords },
  "/zones/{zone}/dns_records/export": { GET: exportRecords },
  "/zones/{zone}/dns_records/import": { POST: importRecords },
  "/zones/{zone}/dns_records/usage": { GET: showUsage },
  "/zones/{zone}/dns_records/{record}": {
    GET: getRecord,
    PUT: overwriteRecord,
    PATCH: editRecord,
    DELETE: deleteRecord,
  },
};

/** Ids are 32 hexadecimal digits; a setting has a name. */
const patterns: Readonly<Record<string, string>> = { setting: "[a-z0-9_]+" };

const compiled = Object.entries(routes).map(([template, methods]) => {
  const pattern = template.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => `(?<${name}>${patterns[name] ?? "[0-9a-f]{32}"})`,
  );
  return { pattern: new RegExp(`^${apiRoot}${pattern}$`), methods };
});

export interface Route {
  readonly methods: Methods;
  readonly ids: Readonly<Record<string, string>>;
}

export function findRoute(path: string): Route | null {
  for (const { pattern, methods } of compiled) {
    const match = pattern.exec(path);
    if (match !== null) return { methods, ids: match.groups ?? {} };
  }
  return null;
}
