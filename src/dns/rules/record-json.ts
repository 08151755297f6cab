/** The JSON of a record in responses; some clients depend on the order of the keys. */
import type { ZoneRecord } from "../record/zone-record.ts";
import type { Rdata } from "../record/record-type.ts";
import { recordType } from "../record/types.ts";

export interface ZoneIdentity {
  readonly id: string;
  readonly name: string;
}

/** The `data` of a record; `null` for types that have only content. */
export function describeData({ type: name, content, priority }: ZoneRecord): Rdata | null {
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
