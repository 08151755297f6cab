/** /zones/{zone}/dns_settings and /zones/{zone}/settings. */
import { problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import {
  checkSetting,
  findSettingName,
  type SettingName,
} from "../../src/dns/rules/zone-settings.ts";
import type { SettingChange } from "../objects/zone-object.ts";
import { zoneOf, type ApiCall, type Handlers } from "./api-call.ts";
import { isObject, readJson } from "./body.ts";

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

export const settingsHandlers = {
  getDns: async (call) => zoneOf(call).readSettings(),
  editDns: async (call) =>
    zoneOf(call).changeSettings(await readJson(call.request), call.requestId),
  list: async (call) => zoneOf(call).readZoneSettings(),
  get: async (call) => zoneOf(call).readZoneSetting(readSettingName(call)),
  edit: async (call) => {
    const name = readSettingName(call);
    const { value } = await readJson(call.request);
    return zoneOf(call).changeZoneSettings([acceptChange(name, value)], false, call.requestId);
  },
  editAll: async (call) => {
    const { items } = await readJson(call.request);
    const changes = requireValid((report) => {
      if (!Array.isArray(items) || !items.every(isObject)) {
        report(problem.notAList("items", "objects"));
        return undefined;
      }
      return items.map(({ id, value }) => {
        const name = findSettingName(id);
        if (name === null) throw new ZoneError([problem.settingUnknown(JSON.stringify(id))]);
        return acceptChange(name, value);
      });
    });
    return zoneOf(call).changeZoneSettings(changes, true, call.requestId);
  },
} satisfies Handlers;
