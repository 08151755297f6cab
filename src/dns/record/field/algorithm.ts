/** Numbers of DNSSEC with the words that a zone file may use for them. */
import { integer } from "./integer.ts";

/** The IANA registry "DNS Security Algorithm Numbers", and the words of BIND that differ. */
const algorithms = {
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  RSASHA1: 5,
  "DSA-NSEC3-SHA1": 6,
  NSEC3DSA: 6,
  "RSASHA1-NSEC3-SHA1": 7,
  NSEC3RSASHA1: 7,
  RSASHA256: 8,
  RSASHA512: 10,
  "ECC-GOST": 12,
  ECCGOST: 12,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
  ED448: 16,
  INDIRECT: 252,
  PRIVATEDNS: 253,
  PRIVATEOID: 254,
};

/** The IANA registry "DS RR Type Digest Algorithms". */
const digests = {
  "SHA-1": 1,
  SHA1: 1,
  "SHA-256": 2,
  SHA256: 2,
  GOST: 3,
  "SHA-384": 4,
  SHA384: 4,
};

export const algorithm = integer(8, { mnemonics: algorithms });
export const digestType = integer(8, { mnemonics: digests });
