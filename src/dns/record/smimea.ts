import { certificateAssociation, checkMatchingLength } from "./certificate-association.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 8162 section 2. */
export const smimea = defineRecordType({
  type: "SMIMEA",
  code: 53,
  shape: "data",
  fields: certificateAssociation,
  check: checkMatchingLength,
});
