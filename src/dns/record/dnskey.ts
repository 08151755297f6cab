import { problem } from "./problem.ts";
import { algorithm } from "./field/algorithm.ts";
import { integer } from "./field/integer.ts";
import { base64 } from "./field/octets.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 4034 section 2. */
export const dnskey = defineRecordType({
  type: "DNSKEY",
  code: 48,
  shape: "data",
  fields: {
    flags: integer(16),
    protocol: integer(8),
    algorithm,
    public_key: base64,
  },
  check({ protocol }, report) {
    // RFC 4034 section 2.1.2: any other value makes the key unusable.
    if (protocol !== 3) report(problem.notOneOf("protocol", [3]));
  },
});
