/** /zones/{zone}/dns_records. */
import { problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import { readRecordQuery } from "../../src/dns/rules/list/record-query.ts";
import { zoneOf, type Handler } from "./api-call.ts";
import { readImportForm, readJson } from "./body.ts";

export const listRecords: Handler = async (call) =>
  zoneOf(call).list(requireValid((report) => readRecordQuery(call.parameters, report)));

export const createRecord: Handler = async (call) =>
  zoneOf(call).create(await readJson(call.request));

export const getRecord: Handler = async (call) => zoneOf(call).get(call.ids["record"]!);

export const overwriteRecord: Handler = async (call) =>
  zoneOf(call).overwrite(call.ids["record"]!, await readJson(call.request));

export const editRecord: Handler = async (call) =>
  zoneOf(call).edit(call.ids["record"]!, await readJson(call.request));

export const deleteRecord: Handler = async (call) => zoneOf(call).remove(call.ids["record"]!);

export const showUsage: Handler = async (call) => zoneOf(call).usage();

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
  return zoneOf(call).batch(batch);
};

export const exportRecords: Handler = async (call) => {
  const reply = await zoneOf(call).exportFile();
  if (!reply.ok) return reply;
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return new Response(JSON.parse(reply.json) as string, { headers });
};

export const importRecords: Handler = async (call) => {
  const { text, proxied } = await readImportForm(call.request);
  return zoneOf(call).importFile(text, proxied);
};
