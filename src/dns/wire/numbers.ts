/** Numbers of the IANA registry "Domain Name System (DNS) Parameters", and serial numbers. */
export const typeCodes = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  AAAA: 28,
  OPT: 41,
  DS: 43,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  CDS: 59,
  CDNSKEY: 60,
  HTTPS: 65,
  /** RFC 9824: only in the bitmap of an NSEC record. */
  NXNAME: 128,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
} as const;

/** RFC 6895 section 3.1: types of questions and pseudo-records, which a zone cannot hold. */
export function isMetaType(type: number): boolean {
  return type === typeCodes.OPT || (type >= 128 && type <= 255);
}

export const classCodes = { IN: 1, ANY: 255 } as const;

export const opcodes = { QUERY: 0, NOTIFY: 4, UPDATE: 5 } as const;

export const rcodes = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  NOTAUTH: 9,
  BADVERS: 16,
  BADKEY: 17,
  BADTIME: 18,
  BADTRUNC: 22,
} as const;

/** BADSIG (RFC 8945 section 3): TSIG gives the number of BADVERS a second meaning. */
export const badSignature = 16;

const rcodeNames = new Map<number, string>(
  Object.entries(rcodes).map(([name, number]) => [number, name]),
);

export function rcodeName(rcode: number): string {
  return rcodeNames.get(rcode) ?? `RCODE${rcode}`;
}

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
