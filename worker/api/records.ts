/** /zones/{zone}/dns_records: everything but the zone file. */
import { zoneObject } from "../objects/environment.ts";
import { problem, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import { readRecordQuery } from "../../src/dns/rules/list/record-query.ts";
import { readJson } from "./body.ts";
import type { Call, Handler } from "./call.ts";
import { respond } from "./envelope.ts";

function zoneOf({ env, ids }: Call) {
  return zoneObject(env, ids["zone"]!);
}

export const listRecords: Handler = async (call) => {
  const problems: Problem[] = [];
  const query = readRecordQuery(call.parameters, (found) => problems.push(found));
  if (problems.length > 0) throw new ZoneError(problems);
  return respond(await zoneOf(call).list(query), call.path);
};

export const createRecord: Handler = async (call) => {
  const request = await readJson(call.request);
  return respond(await zoneOf(call).create(request), call.path);
};

export const getRecord: Handler = async (call) =>
  respond(await zoneOf(call).get(call.ids["record"]!), call.path);

export const overwriteRecord: Handler = async (call) => {
  const request = await readJson(call.request);
  return respond(await zoneOf(call).overwrite(call.ids["record"]!, request), call.path);
};

export const editRecord: Handler = async (call) => {
  const patch = await readJson(call.request);
  return respond(await zoneOf(call).edit(call.ids["record"]!, patch), call.path);
};

export const deleteRecord: Handler = async (call) =>
  respond(await zoneOf(call).remove(call.ids["record"]!), call.path);

export const showUsage: Handler = async (call) => respond(await zoneOf(call).usage(), call.path);

function isObject(item: unknown): boolean {
  return typeof item === "object" && item !== null && !Array.isArray(item);
}

function readOperations(
  body: Readonly<Record<string, unknown>>,
  name: "deletes" | "patches" | "puts" | "posts",
): readonly Readonly<Record<string, unknown>>[] {
  const list = body[name] ?? [];
  if (!Array.isArray(list) || !list.every(isObject)) {
    throw new ZoneError([problem.notAList(name, "objects")]);
  }
  const operations = list as readonly Readonly<Record<string, unknown>>[];
  if (name !== "posts" && operations.some(({ id }) => typeof id !== "string")) {
    throw new ZoneError([problem.requiredField("id")]);
  }
  return operations;
}

export const batchRecords: Handler = async (call) => {
  const body = await readJson(call.request);
  const batch = {
    deletes: readOperations(body, "deletes"),
    patches: readOperations(body, "patches"),
    puts: readOperations(body, "puts"),
    posts: readOperations(body, "posts"),
  };
  const count = Object.values(batch).reduce((sum, { length }) => sum + length, 0);
  if (count === 0) throw new ZoneError([problem.batchEmpty()]);
  if (count > call.config.batchQuota)
    throw new ZoneError([problem.batchQuota(call.config.batchQuota)]);
  return respond(await zoneOf(call).batch(batch), call.path);
};
