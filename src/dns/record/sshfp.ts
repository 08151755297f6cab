import { integer } from "./field/integer.ts";
import { checkDigestLength, hexadecimal } from "./field/octets.ts";
import { defineRecordType } from "./record-type.ts";

/** SHA-1 and SHA-256 (RFC 4255, RFC 6594). */
const fingerprintBytes: Readonly<Record<number, number>> = { 1: 20, 2: 32 };

/** RFC 4255 section 3. */
export const sshfp = defineRecordType({
  type: "SSHFP",
  code: 44,
  shape: "data",
  fields: { algorithm: integer(8), type: integer(8), fingerprint: hexadecimal },
  check({ type, fingerprint }, report) {
    checkDigestLength("fingerprint", fingerprint, fingerprintBytes[type], report);
  },
});
