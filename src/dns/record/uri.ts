import { integer, priority } from "./field/integer.ts";
import { text } from "./field/text.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 7553; the target has no length octet and extends to the end of the record. */
export const uri = defineRecordType({
  type: "URI",
  code: 256,
  shape: "data",
  topLevelPriority: true,
  fields: {
    priority,
    weight: integer(16),
    target: text(/^[a-z][a-z0-9+.-]*:\S+$/i, "a URI with a scheme", { lengthOctet: false }),
  },
});
