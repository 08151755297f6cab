/** All operations of the record API. A test compares them with `openapi.yaml`. */
import { accountHandlers } from "./accounts.ts";
import { analyticsHandlers } from "./analytics.ts";
import type { ApiCall, Handlers } from "./api-call.ts";
import { dnssecHandlers } from "./dnssec.ts";
import { platformHandlers } from "./platform.ts";
import { recordHandlers } from "./records.ts";
import { settingsHandlers } from "./settings.ts";
import { zoneHandlers } from "./zones.ts";

const apiRoot = "/client/v4";

/** Calls that need no credentials, as in the deployed service. */
export const publicPaths: ReadonlySet<string> = new Set([`${apiRoot}/ips`]);

/** The first row that matches wins. */
const routes: Readonly<Record<string, Handlers>> = {
  "/user": { GET: accountHandlers.getUser },
  "/user/tokens/verify": { GET: accountHandlers.verifyToken },
  "/accounts": { GET: accountHandlers.list },
  "/accounts/{account}": { GET: accountHandlers.get },
  "/ips": { GET: platformHandlers.listAddresses },
  "/zones": { GET: zoneHandlers.list, POST: zoneHandlers.create },
  "/zones/{zone}": { GET: zoneHandlers.get, PATCH: zoneHandlers.edit, DELETE: zoneHandlers.remove },
  "/zones/{zone}/dns_settings": { GET: settingsHandlers.getDns, PATCH: settingsHandlers.editDns },
  "/zones/{zone}/dnssec": {
    GET: dnssecHandlers.get,
    PATCH: dnssecHandlers.edit,
    DELETE: dnssecHandlers.remove,
  },
  "/zones/{zone}/settings": { GET: settingsHandlers.list, PATCH: settingsHandlers.editAll },
  "/zones/{zone}/settings/{setting}": { GET: settingsHandlers.get, PATCH: settingsHandlers.edit },
  "/zones/{zone}/activation_check": { PUT: zoneHandlers.checkActivation },
  "/zones/{zone}/purge_cache": { POST: zoneHandlers.purgeCache },
  "/zones/{zone}/dns_analytics/report": { GET: analyticsHandlers.report },
  "/zones/{zone}/dns_records": { GET: recordHandlers.list, POST: recordHandlers.create },
  "/zones/{zone}/dns_records/batch": { POST: recordHandlers.batch },
  "/zones/{zone}/dns_records/export": { GET: recordHandlers.exportFile },
  "/zones/{zone}/dns_records/import": { POST: recordHandlers.importFile },
  "/zones/{zone}/dns_records/scan": { POST: recordHandlers.scan },
  "/zones/{zone}/dns_records/scan/trigger": { POST: recordHandlers.triggerScan },
  "/zones/{zone}/dns_records/scan/review": {
    GET: recordHandlers.listScanned,
    POST: recordHandlers.reviewScanned,
  },
  "/zones/{zone}/dns_records/usage": { GET: recordHandlers.usage },
  "/zones/{zone}/dns_records/{record}": {
    GET: recordHandlers.get,
    PUT: recordHandlers.overwrite,
    PATCH: recordHandlers.edit,
    DELETE: recordHandlers.remove,
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

export function findRoute(
  path: string,
): { readonly methods: Handlers; readonly ids: ApiCall["ids"] } | null {
  for (const { pattern, methods } of compiled) {
    const match = pattern.exec(path);
    if (match !== null) return { methods, ids: match.groups ?? {} };
  }
  return null;
}
