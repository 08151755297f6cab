/** /zones/{zone}/dns_settings and /zones/{zone}/settings. */
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { switchNames, type SwitchName } from "../objects/zone-state.ts";
import { zoneOf, type ApiCall, type Handlers } from "./api-call.ts";
import { readJson } from "./body.ts";

/** Deviation: of a zone's other settings, only the ones that DNS answers depend on exist. */
function readSwitchName({ ids, path }: ApiCall): SwitchName {
  const found = switchNames.find((known) => known === ids["setting"]);
  if (found === undefined) throw new ZoneError([problem.noRoute(path)]);
  return found;
}

export const settingsHandlers = {
  getDns: async (call) => zoneOf(call).readSettings(),
  editDns: async (call) =>
    zoneOf(call).changeSettings(await readJson(call.request), call.requestId),
  list: async (call) => zoneOf(call).readSwitches(),
  get: async (call) => zoneOf(call).readSwitch(readSwitchName(call)),
  edit: async (call) => {
    const name = readSwitchName(call);
    const { value } = await readJson(call.request);
    if (value === "on" || value === "off") {
      return zoneOf(call).changeSwitch(name, value, call.requestId);
    }
    throw new ZoneError([problem.notOneOf("value", ["on", "off"])]);
  },
} satisfies Handlers;
