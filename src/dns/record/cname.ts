import { hostnameContent } from "./field/hostname.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 1035 section 3.3.1. */
export const cname = defineRecordType({
  type: "CNAME",
  code: 5,
  shape: "content",
  proxiable: true,
  fields: { content: hostnameContent },
});
