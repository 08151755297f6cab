import { hostname } from "./field/hostname.ts";
import { integer } from "./field/integer.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 1035 section 3.3.13. The zone has one SOA record; `dns_settings` changes its fields. */
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

/** Serial number arithmetic (RFC 1982) with SERIAL_BITS = 32. */
const serialModulus = 2 ** 32;

export function nextSerial(serial: number): number {
  return (serial + 1) % serialModulus;
}

/**
 * The first serial of a zone: the current time, or the serial after the last one that the name had.
 * Secondaries keep the old zone when its serial is later, and a clock can go back.
 */
export function firstSerial(nowSeconds: number, last: number | null): number {
  const now = nowSeconds % serialModulus;
  return last === null || isLaterSerial(now, last) ? now : nextSerial(last);
}

/** RFC 1982 leaves a distance of exactly half the range undefined; here it is not later. */
export function isLaterSerial(later: number, earlier: number): boolean {
  const distance = (later - earlier + serialModulus) % serialModulus;
  return distance > 0 && distance < serialModulus / 2;
}
