import { hostnameContent } from "./field/hostname.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 1035 section 3.3.11. */
export const ns = defineRecordType({
  type: "NS",
  code: 2,
  shape: "content",
  fields: { content: hostnameContent },
});
