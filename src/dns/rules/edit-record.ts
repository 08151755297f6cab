import type { RecordRequest } from "./accept-record.ts";
import type { ZoneRecord } from "../record/zone-record.ts";
import { describeData } from "./record-json.ts";

/**
 * PATCH leaves absent fields unchanged. Content belongs to the type: a new type discards content,
 * data and priority. New data replaces all of the old data except a priority that the new data
 * omits.
 */
export function applyRecordPatch(record: ZoneRecord, patch: RecordRequest): RecordRequest {
  const current: Record<string, unknown> = {
    ...record,
    data: describeData(record) ?? undefined,
    priority: record.priority ?? undefined,
    private_routing: record.privateRouting,
  };
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
