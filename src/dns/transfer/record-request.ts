/** A transferred record as a request of the record API. */
import type { ResourceRecord } from "../wire/resource-record.ts";
import { recordTypes } from "../record/registry.ts";
import type { RecordType } from "../record/record-type.ts";

export interface TransferredRequest {
  readonly type: string;
  readonly name: string;
  readonly ttl: number;
  readonly content?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly priority?: number;
}

const typesByCode = new Map<number, RecordType>(
  [...recordTypes.values()].map((type) => [type.code, type]),
);

/** `null` for a type that the API does not support. */
export function toRecordRequest(record: ResourceRecord): TransferredRequest | null {
  const type = typesByCode.get(record.type);
  if (type === undefined) return null;
  const rdata = type.read(record.data);
  const { priority } = rdata;
  const data = type.data(rdata);
  return {
    type: type.type,
    name: record.name,
    ttl: record.ttlSeconds,
    ...(data === null ? { content: type.content(rdata) } : { data }),
    ...(type.topLevelPriority && { priority: priority as number }),
  };
}
