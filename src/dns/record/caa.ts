import { problem } from "./problem.ts";
import { integer } from "./field/integer.ts";
import { text } from "./field/text.ts";
import { normaliseHostname } from "./field/hostname.ts";
import { defineRecordType } from "./record-type.ts";

const issuerTags = new Set(["issue", "issuewild", "issuemail", "issuevmc"]);

/** RFC 8659 section 4. */
export const caa = defineRecordType({
  type: "CAA",
  code: 257,
  shape: "data",
  fields: {
    flags: integer(8),
    tag: text(/^[a-z0-9]{1,15}$/, "1 to 15 letters and digits", { quoted: false, lowerCase: true }),
    value: text(/^/, "printable ASCII", { lengthOctet: false }),
  },
  check({ tag, value }, report) {
    // "issuer; parameters"; an empty issuer forbids every authority (RFC 8659 section 4.2).
    const issuer = value.split(";")[0]!.trim();
    if (issuerTags.has(tag) && issuer !== "" && normaliseHostname(issuer) === null) {
      report(problem.textInvalid("value", `a hostname with optional parameters for ${tag}`));
    }
    if (tag === "iodef" && !/^(?:mailto:[^@\s]+@\S+|https?:\/\/\S+)$/i.test(value)) {
      report(problem.textInvalid("value", "a mailto:, http: or https: URL for iodef"));
    }
  },
});
