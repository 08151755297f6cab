import { hostnameContent } from "./field/hostname.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 1035 section 3.3.12. */
export const ptr = defineRecordType({
  type: "PTR",
  code: 12,
  shape: "content",
  fields: { content: hostnameContent },
});
