import { problem } from "./problem.ts";
import { strings } from "./field/strings.ts";
import { checkDkim, isDkimName } from "./text/dkim.ts";
import { checkDmarc, isDmarcName } from "./text/dmarc.ts";
import { joinStrings, parseStrings } from "./text/quoting.ts";
import { checkSpf, looksLikeSpf } from "./text/spf.ts";
import { defineRecordType } from "./record-type.ts";

/**
 * RFC 1035 section 3.3.14. DKIM, SPF and DMARC are TXT records: they are recognised by their
 * name, or for SPF by how they start, and checked for what they must contain. Deviation: the
 * specification asks for the check; the deployed service takes any text.
 */
export const txt = defineRecordType({
  type: "TXT",
  code: 16,
  shape: "content",
  fields: { content: strings },
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
