/** The operations of a batch, each kind in its order. */
import type { RecordRequest } from "../../src/dns/rules/accept-record.ts";

export interface BatchRequest {
  readonly deletes: readonly RecordRequest[];
  readonly patches: readonly RecordRequest[];
  readonly puts: readonly RecordRequest[];
  readonly posts: readonly RecordRequest[];
}

/** The API has seen to it that there is one. */
export function idOf({ id }: RecordRequest): string {
  return id as string;
}
