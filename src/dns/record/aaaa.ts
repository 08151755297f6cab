import { ipv6 } from "./field/address.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 3596; content is written as RFC 5952 asks. */
export const aaaa = defineRecordType({
  type: "AAAA",
  code: 28,
  shape: "content",
  proxiable: true,
  fields: { content: ipv6 },
});
