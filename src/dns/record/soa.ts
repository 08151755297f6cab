import { hostname } from "./field/hostname.ts";
import { integer } from "./field/integer.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 1035 section 3.3.13; made with the zone, and changed through its settings. */
export const soa = defineRecordType({
  type: "SOA",
  code: 6,
  shape: "data",
  managedBy: "dns_settings",
  fields: {
    mname: hostname(),
    rname: hostname(),
    serial: integer(32),
    refresh: integer(32),
    retry: integer(32),
    expire: integer(32),
    minimum: integer(32),
  },
});
