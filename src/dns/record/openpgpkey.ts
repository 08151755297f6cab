import { base64 } from "./field/octets.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 7929 section 2. */
export const openpgpkey = defineRecordType({
  type: "OPENPGPKEY",
  code: 61,
  shape: "content",
  fields: { content: base64 },
});
