/** /zones/{zone}/dns_records. */
import { zoneObject } from "../objects/environment.ts";
import { problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import { readListQuery } from "../../src/dns/rules/list/record-query.ts";
import type { ApiCall, Handler } from "./api-call.ts";
import { readImportForm, readJson } from "./body.ts";
import { respond } from "./envelope.ts";

function zoneOf({ env, ids }: ApiCall) {
  return zoneObject(env, ids["zone"]!);
}

export const listRecords: Handler = async (call) => {
  const query = requireValid((report) => readListQuery(call.parameters, report));
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

export const exportRecords: Handler = async (call) => {
  const reply = await zoneOf(call).exportFile();
  if (!reply.ok) return respond(reply, call.path);
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return new Response(JSON.parse(reply.json) as string, { headers });
};

export const importRecords: Handler = async (call) => {
  const { text, proxied } = await readImportForm(call.request);
  return respond(await zoneOf(call).importFile(text, proxied), call.path);
};
