import { ipv4 } from "./field/ip-address.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 1035 section 3.4.1. */
export const a = defineRecordType({
  type: "A",
  code: 1,
  shape: "content",
  proxiable: true,
  fields: { content: ipv4 },
});
