import { defineRecordType } from "./record-type.ts";
import { checkAliasMode, serviceBinding } from "./service-binding.ts";

/** RFC 9460 section 9. */
export const https = defineRecordType({
  type: "HTTPS",
  code: 65,
  shape: "data",
  fields: serviceBinding,
  check: checkAliasMode,
});
