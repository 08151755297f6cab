import { describe, expect, test } from "vitest";
import { checkTextPolicy, textKinds } from "./mail-policy.ts";

function problemsOf(owner: string, text: string): string[] {
  const messages: string[] = [];
  checkTextPolicy(owner, JSON.stringify(text), ({ message }) => messages.push(message));
  return messages;
}

const cases = [
  {
    kind: "SPF",
    owner: "example.org",
    valid: [
      "v=spf1 -all",
      "v=spf1",
      "V=SPF1 include:_spf.example.net ~all",
      "v=spf1 a mx a:mail.example.org/24 mx/24//64 ip4:192.0.2.0/24 ip6:2001:db8::/32 ?all",
      "v=spf1 exists:%{i}._spf.%{d2} redirect=_spf.example.org",
      "v=spf1 ptr ptr:example.org exp=explain.example.org x-other=1 -all",
    ],
    invalid: [
      ["v=spf1include:x -all", "start with"],
      ["v=spf1 al", '"al" is not a mechanism'],
      ["v=spf1 include -all", "malformed"],
      ["v=spf1 constructor -all", "not a mechanism"],
      ["v=spf1 ip4:192.0.2.300", "malformed"],
      ["v=spf1 ip4:192.0.2.0/33", "malformed"],
      ["v=spf1 ip6:192.0.2.0", "malformed"],
      ["v=spf1 ip4=192.0.2.1 all:x", "malformed"],
      ["v=spf1 a/99", "malformed"],
      ["v=spf1 redirect=a.example redirect=b.example", "twice"],
      ["v=spf1 redirect=", "domain"],
      [`v=spf1 ${"include:a.example ".repeat(11)}-all`, "11 lookups"],
    ],
  },
  {
    kind: "DKIM",
    owner: "s1._domainkey.example.org",
    valid: [
      "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GN",
      "v=DKIM1; p=",
      "p=AQID",
      "v=DKIM1; h=sha256; s=email; t=y:s; n=note; p=AQ ID",
      "v=DKIM1;k=ed25519;p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=;",
    ],
    invalid: [
      ["v=DKIM2; p=AQID", "DKIM1"],
      ["p=AQID; v=DKIM1", "first"],
      ["v=DKIM1; k=rsa", "p= is missing"],
      ["v=DKIM1; p=***", "base64"],
      ["v=DKIM1; k=dsa; p=AQID", "k=dsa"],
      ["v=DKIM1; p=AQID; p=AQID", "twice"],
      ["v=DKIM1; p", "name=value"],
      ["hello", "name=value"],
    ],
  },
  {
    kind: "DMARC",
    owner: "_dmarc.example.org",
    valid: [
      "v=DMARC1; p=none",
      "v=DMARC1; p=none; constructor=x",
      "v=DMARC1; p=reject; sp=quarantine; adkim=s; aspf=r; pct=50; fo=1:d:s; ri=86400; rf=afrf",
      "v=DMARC1; p=none; rua=mailto:a@example.org,mailto:b@example.org!10m; ruf=mailto:c@example.org",
    ],
    invalid: [
      ["p=none; v=DMARC1", "start with"],
      ["v=DMARC1", "p= is missing"],
      ["v=DMARC1; p=block", "p=block"],
      ["v=DMARC1; p=none; pct=101", "pct=101"],
      ["v=DMARC1; p=none; rua=a@example.org", "rua="],
      ["v=DMARC1; p=none; adkim=x", "adkim=x"],
      ["v=dmarc1; p=none", "start with"],
    ],
  },
];

describe.each(cases)("checkTextPolicy() for $kind", ({ kind, owner, valid, invalid }) => {
  test.each(valid)("accepts %s", (text) => expect(problemsOf(owner, text)).toEqual([]));

  test.each(invalid)("returns the error of %s", (text = "", reason = "") => {
    const [message] = problemsOf(owner, text);
    expect(message).toContain(`${kind} record is invalid`);
    expect(message).toContain(reason);
  });
});

test.each([
  ["DKIM", "s1._domainkey.example.org", true],
  ["DKIM", "a.b._domainkey.mail.example.org", true],
  ["DKIM", "_domainkey.example.org", false],
  ["DMARC", "_dmarc.example.org", true],
  ["DMARC", "x._dmarc.example.org", false],
] as const)("the name of a %s record: %s", (kind, owner, fits) => {
  expect(textKinds[kind].fits(owner)).toBe(fits);
});
