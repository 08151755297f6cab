import { certificateAssociation, checkMatchingLength } from "./certificate-association.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 6698 section 2. */
export const tlsa = defineRecordType({
  type: "TLSA",
  code: 52,
  shape: "data",
  fields: certificateAssociation,
  check: checkMatchingLength,
});
