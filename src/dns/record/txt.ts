import { problem } from "./problem.ts";
import { joinStrings, parseStrings, quotedStrings } from "./field/quoted-strings.ts";
import { checkDkim, isDkimName } from "./mail-policy/dkim.ts";
import { checkDmarc, isDmarcName } from "./mail-policy/dmarc.ts";
import { checkSpf, looksLikeSpf } from "./mail-policy/spf.ts";
import { defineRecordType } from "./record-type.ts";

/**
 * RFC 1035 section 3.3.14. DKIM, SPF and DMARC policies are TXT records. The owner name identifies
 * DKIM and DMARC, the first characters identify SPF; the content must then be a valid policy.
 * Deviation: the specification asks for the check; the deployed service takes any text.
 */
export const txt = defineRecordType({
  type: "TXT",
  code: 16,
  shape: "content",
  fields: { content: quotedStrings },
  check({ content }, owner, report) {
    if (owner === "") return;
    const text = joinStrings(parseStrings(content)!);
    if (isDkimName(owner)) {
      const reason = checkDkim(text);
      if (reason !== null) report(problem.dkim(reason));
    } else if (isDmarcName(owner)) {
      const reason = checkDmarc(text);
      if (reason !== null) report(problem.dmarc(reason));
    } else if (looksLikeSpf(text)) {
      const reason = checkSpf(text);
      if (reason !== null) report(problem.spf(reason));
    }
  },
});
