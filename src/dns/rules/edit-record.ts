import type { RecordRequest } from "./accept-record.ts";
import type { ZoneRecord } from "../record/zone-record.ts";
import { recordType } from "../record/registry.ts";

/** The request that would write the record unchanged. */
function asRequest(record: ZoneRecord): Record<string, unknown> {
  const type = recordType(record.type);
  const { name, content, ttl, proxied, comment, tags, settings } = record;
  const data =
    type.shape === "content" ? undefined : type.data(type.parseContent(content, record.priority));
  const priority = record.priority ?? undefined;
  return {
    type: record.type,
    name,
    content,
    data,
    priority,
    ttl,
    proxied,
    comment,
    tags,
    settings,
  };
}

/**
 * PATCH leaves absent fields unchanged. Content belongs to the type: a new type discards content, data
 * and priority. New data replaces all of the old data except a priority that the new data omits.
 */
export function applyRecordPatch(record: ZoneRecord, patch: RecordRequest): RecordRequest {
  const current = asRequest(record);
  const type = patch["type"];
  if (typeof type === "string" && type.toUpperCase() !== record.type) {
    for (const field of ["content", "data", "priority"]) delete current[field];
  }
  if (patch["data"] === undefined && patch["priority"] !== undefined && record.type === "SRV") {
    const data = { ...(current["data"] as object), priority: patch["priority"] };
    return { ...current, ...patch, data };
  }
  return { ...current, ...patch };
}
