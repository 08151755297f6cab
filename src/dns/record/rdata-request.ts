import type { Rdata, RdataRequest, RecordType } from "./record-type.ts";

/** The data of a record as the part of a request that holds it. */
export function rdataRequest(type: RecordType, rdata: Rdata): RdataRequest {
  const data = type.data(rdata);
  return {
    ...(data === null ? { content: type.content(rdata) } : { data }),
    ...(type.topLevelPriority && { priority: rdata["priority"] }),
  };
}
