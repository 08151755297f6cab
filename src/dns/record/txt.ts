import { problem } from "./problem.ts";
import { joinStrings, parseStrings, quotedStrings } from "./field/quoted-strings.ts";
import { checkDkim, isDkimName } from "./mail-policy/dkim.ts";
import { checkDmarc, isDmarcName } from "./mail-policy/dmarc.ts";
import { checkSpf, looksLikeSpf } from "./mail-policy/spf.ts";
import { defineRecordType } from "./record-type.ts";

/**
 * The specification lists these as types; they are TXT records. The owner name identifies DKIM and
 * DMARC, the first characters identify SPF. `rule` completes the message "X records belong at …".
 */
export const textKinds = {
  DKIM: {
    rule: "<selector>._domainkey",
    fits: isDkimName,
    check: checkDkim,
    refuse: problem.dkim,
  },
  DMARC: { rule: "_dmarc", fits: isDmarcName, check: checkDmarc, refuse: problem.dmarc },
  SPF: {
    rule: "a name that sends mail and start with v=spf1",
    fits: (_owner: string, text: string) => looksLikeSpf(text),
    check: checkSpf,
    refuse: problem.spf,
  },
} as const;

export function isTextKind(type: string): type is keyof typeof textKinds {
  return Object.hasOwn(textKinds, type);
}

/**
 * RFC 1035 section 3.3.14. The content of a DKIM, DMARC or SPF record must be a valid policy.
 * Deviation: the specification asks for the check; the deployed service takes any text.
 */
export const txt = defineRecordType({
  type: "TXT",
  code: 16,
  shape: "content",
  fields: { content: quotedStrings },
  check({ content }, report, owner) {
    if (owner === "") return;
    const text = joinStrings(parseStrings(content)!);
    const kind = Object.values(textKinds).find(({ fits }) => fits(owner, text));
    const reason = kind?.check(text) ?? null;
    if (kind !== undefined && reason !== null) report(kind.refuse(reason));
  },
});
