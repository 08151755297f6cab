/** /zones/{zone}/dns_records. */
import { problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import { readRecordQuery } from "../../src/dns/rules/list-query.ts";
import { replyWith } from "../objects/object-reply.ts";
import { zoneOf, type ApiCall, type Handlers } from "./api-call.ts";
import { isObject, readImportForm, readJson, type JsonObject } from "./body.ts";

function recordId({ ids }: ApiCall): string {
  return ids["record"]!;
}

function readOperations(
  body: JsonObject,
  name: "deletes" | "patches" | "puts" | "posts",
): readonly JsonObject[] {
  const operations = body[name] ?? [];
  if (!Array.isArray(operations) || !operations.every(isObject)) {
    throw new ZoneError([problem.notAList(name, "objects")]);
  }
  if (name !== "posts" && operations.some(({ id }) => typeof id !== "string")) {
    throw new ZoneError([problem.requiredField("id")]);
  }
  return operations;
}

export const recordHandlers = {
  list: async (call) =>
    zoneOf(call).list(requireValid((report) => readRecordQuery(call.parameters, report))),
  create: async (call) => zoneOf(call).create(await readJson(call.request), call.requestId),
  get: async (call) => zoneOf(call).get(recordId(call)),
  overwrite: async (call) =>
    zoneOf(call).overwrite(recordId(call), await readJson(call.request), call.requestId),
  edit: async (call) =>
    zoneOf(call).edit(recordId(call), await readJson(call.request), call.requestId),
  remove: async (call) => zoneOf(call).remove(recordId(call), call.requestId),
  usage: async (call) => zoneOf(call).usage(),

  batch: async (call) => {
    const body = await readJson(call.request);
    const batch = {
      deletes: readOperations(body, "deletes"),
      patches: readOperations(body, "patches"),
      puts: readOperations(body, "puts"),
      posts: readOperations(body, "posts"),
    };
    const { batchQuota } = call.config;
    const count = Object.values(batch).flat().length;
    if (count === 0) throw new ZoneError([problem.batchEmpty()]);
    if (count > batchQuota) throw new ZoneError([problem.batchQuota(batchQuota)]);
    return zoneOf(call).batch(batch, call.requestId);
  },

  exportFile: async (call) => {
    const reply = await zoneOf(call).exportFile();
    if (!reply.ok) return reply;
    const headers = { "content-type": "text/plain; charset=utf-8" };
    return new Response(JSON.parse(reply.json) as string, { headers });
  },

  /** Deviation: a scan finds nothing, because a local zone has no earlier name servers. */
  scan: async () => replyWith({ recs_added: 0, recs_added_by_type: {}, total_records_parsed: 0 }),
  triggerScan: async () => replyWith(null),
  listScanned: async () => replyWith([]),
  reviewScanned: async () => replyWith({ accepts: [], rejects: [] }),

  importFile: async (call) => {
    const { text, proxied } = await readImportForm(call.request);
    return zoneOf(call).importFile(text, proxied, call.requestId);
  },
} satisfies Handlers;
