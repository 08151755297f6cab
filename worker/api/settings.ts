/** /zones/{zone}/dns_settings and /zones/{zone}/settings. */
import { zoneObject } from "../objects/environment.ts";
import { switchNames, type SwitchName } from "../objects/zone-state.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { readJson } from "./body.ts";
import type { Handler } from "./api-call.ts";
import { respond } from "./envelope.ts";

export const getDnsSettings: Handler = async ({ env, ids, path }) =>
  respond(await zoneObject(env, ids["zone"]!).readSettings(), path);

export const editDnsSettings: Handler = async ({ request, env, ids, path }) => {
  const body = await readJson(request);
  return respond(await zoneObject(env, ids["zone"]!).changeSettings(body), path);
};

/** Deviation: of a zone's other settings, only the ones that DNS answers depend on exist. */
function readSwitchName(name: string, path: string): SwitchName {
  const found = switchNames.find((known) => known === name);
  if (found === undefined) throw new ZoneError([problem.noRoute(path)]);
  return found;
}

export const listSettings: Handler = async ({ env, ids, path }) =>
  respond(await zoneObject(env, ids["zone"]!).readSwitches(), path);

export const getSetting: Handler = async ({ env, ids, path }) => {
  const name = readSwitchName(ids["setting"]!, path);
  return respond(await zoneObject(env, ids["zone"]!).readSwitch(name), path);
};

export const editSetting: Handler = async ({ request, env, ids, path }) => {
  const name = readSwitchName(ids["setting"]!, path);
  const { value } = await readJson(request);
  if (value !== "on" && value !== "off")
    throw new ZoneError([problem.notOneOf("value", ["on", "off"])]);
  return respond(await zoneObject(env, ids["zone"]!).changeSwitch(name, value), path);
};
