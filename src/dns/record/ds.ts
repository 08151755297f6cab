import { algorithm, digestType } from "./field/algorithm.ts";
import { integer } from "./field/integer.ts";
import { checkDigestLength, hexadecimal } from "./field/octets.ts";
import { defineRecordType } from "./record-type.ts";

/** Digest lengths of the IANA registry. */
const digestBytes: Readonly<Record<number, number>> = { 1: 20, 2: 32, 3: 32, 4: 48 };

/** RFC 4034 section 5. */
export const ds = defineRecordType({
  type: "DS",
  code: 43,
  shape: "data",
  fields: {
    key_tag: integer(16),
    algorithm,
    digest_type: digestType,
    digest: hexadecimal,
  },
  check({ digest_type, digest }, report) {
    checkDigestLength("digest", digest, digestBytes[digest_type], report);
  },
});
