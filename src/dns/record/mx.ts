import { problem } from "./problem.ts";
import { hostname } from "./field/hostname.ts";
import { priority } from "./field/integer.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 1035 section 3.3.9; the root as content means that the domain accepts no mail (RFC 7505). */
export const mx = defineRecordType({
  type: "MX",
  code: 15,
  shape: "content",
  topLevelPriority: true,
  fields: {
    priority,
    content: hostname({ rootAllowed: true, refuse: problem.contentInvalid }),
  },
});
