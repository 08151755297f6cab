import { algorithm } from "./field/algorithm.ts";
import { integer } from "./field/integer.ts";
import { base64 } from "./field/octets.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 4398 section 2.1: the words that a zone file may use for the number. */
const types = { PKIX: 1, SPKI: 2, PGP: 3, IPKIX: 4, ISPKI: 5, IPGP: 6, ACPKIX: 7, IACPKIX: 8 };

export const cert = defineRecordType({
  type: "CERT",
  code: 37,
  shape: "data",
  fields: {
    type: integer(16, { mnemonics: { ...types, URI: 253, OID: 254 } }),
    key_tag: integer(16),
    algorithm,
    certificate: base64,
  },
});
