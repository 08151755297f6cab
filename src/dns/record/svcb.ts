import { defineRecordType } from "./record-type.ts";
import { checkAliasMode, serviceBinding } from "./service-binding.ts";

/** RFC 9460 section 2. */
export const svcb = defineRecordType({
  type: "SVCB",
  code: 64,
  shape: "data",
  fields: serviceBinding,
  check: checkAliasMode,
});
