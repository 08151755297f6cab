/** /zones/{zone}/dns_settings and /zones/{zone}/settings. */
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { switchNames, type SwitchName } from "../objects/zone-state.ts";
import { zoneOf, type ApiCall, type Handler } from "./api-call.ts";
import { readJson } from "./body.ts";

export const getDnsSettings: Handler = async (call) => zoneOf(call).readSettings();

export const editDnsSettings: Handler = async (call) =>
  zoneOf(call).changeSettings(await readJson(call.request));

/** Deviation: of a zone's other settings, only the ones that DNS answers depend on exist. */
function readSwitchName({ ids, path }: ApiCall): SwitchName {
  const found = switchNames.find((known) => known === ids["setting"]);
  if (found === undefined) throw new ZoneError([problem.noRoute(path)]);
  return found;
}

export const listSettings: Handler = async (call) => zoneOf(call).readSwitches();

export const getSetting: Handler = async (call) => zoneOf(call).readSwitch(readSwitchName(call));

export const editSetting: Handler = async (call) => {
  const name = readSwitchName(call);
  const { value } = await readJson(call.request);
  if (value !== "on" && value !== "off")
    throw new ZoneError([problem.notOneOf("value", ["on", "off"])]);
  return zoneOf(call).changeSwitch(name, value);
};
