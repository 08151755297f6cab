/** The JSON of a record in responses; some clients depend on the order of the keys. */
import type { Rdata } from "../record/record-type.ts";
import { recordType } from "../record/types.ts";
import type { ZoneRecord } from "../record/zone-record.ts";
import type { RecordRequest } from "./accept-record.ts";

export interface ZoneIdentity {
  readonly id: string;
  readonly name: string;
}

function describeData({ type: name, content, priority }: ZoneRecord): Rdata | null {
  const type = recordType(name);
  return type.shape === "content" ? null : type.data(type.parseContent(content, priority));
}

export function describeRecord(record: ZoneRecord, zone: ZoneIdentity): Record<string, unknown> {
  const type = recordType(record.type);
  const data = describeData(record);
  return {
    id: record.id,
    zone_id: zone.id,
    zone_name: zone.name,
    name: record.name,
    type: record.type,
    content: record.content,
    proxiable: type.proxiable,
    proxied: record.proxied,
    ttl: record.ttl,
    locked: false,
    ...(type.topLevelPriority ? { priority: record.priority } : {}),
    ...(data === null ? {} : { data }),
    settings: record.settings,
    ...(record.privateRouting ? { private_routing: true } : {}),
    meta: {
      auto_added: false,
      managed_by_apps: false,
      managed_by_argo_tunnel: false,
      source: "primary",
    },
    comment: record.comment,
    tags: record.tags,
    created_on: record.createdOn,
    modified_on: record.modifiedOn,
    ...(record.commentModifiedOn === null ? {} : { comment_modified_on: record.commentModifiedOn }),
    ...(record.tagsModifiedOn === null ? {} : { tags_modified_on: record.tagsModifiedOn }),
  };
}

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
