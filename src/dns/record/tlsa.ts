import { integer } from "./field/integer.ts";
import { checkDigestLength, hexadecimal } from "./field/octets.ts";
import { defineRecordType } from "./record-type.ts";

/** SHA-256 and SHA-512 (RFC 6698 section 2.1.3). */
const digestBytes: Readonly<Record<number, number>> = { 1: 32, 2: 64 };

/** TLSA and SMIMEA have the same rdata (RFC 8162 section 2). */
export function certificateAssociation(type: string, code: number) {
  return defineRecordType({
    type,
    code,
    shape: "data",
    fields: {
      usage: integer(8),
      selector: integer(8),
      matching_type: integer(8),
      certificate: hexadecimal,
    },
    check({ matching_type, certificate }, report) {
      checkDigestLength("certificate", certificate, digestBytes[matching_type], report);
    },
  });
}

/** RFC 6698 section 2. */
export const tlsa = certificateAssociation("TLSA", 52);
