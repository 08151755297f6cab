/** A transferred record as a request of the record API. */
import type { ResourceRecord } from "../wire/resource-record.ts";
import { rdataRequest } from "../record/presentation.ts";
import type { RdataRequest } from "../record/record-type.ts";
import { recordTypeByCode } from "../record/types.ts";

export interface TransferredRequest extends RdataRequest {
  readonly type: string;
  readonly name: string;
  readonly ttl: number;
}

/** `null` for a type that the API does not support. */
export function toRecordRequest(record: ResourceRecord): TransferredRequest | null {
  const type = recordTypeByCode(record.type);
  if (type === undefined) return null;
  const rdata = rdataRequest(type, type.read(record.data));
  return { type: type.type, name: record.name, ttl: record.ttlSeconds, ...rdata };
}
