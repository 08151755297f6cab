import { ipv6 } from "./field/ip-address.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 3596; the content has the form of RFC 5952. */
export const aaaa = defineRecordType({
  type: "AAAA",
  code: 28,
  shape: "content",
  proxiable: true,
  fields: { content: ipv6 },
});
