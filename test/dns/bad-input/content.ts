/** Names, types, TTLs, and types whose content is one string. */
import {
  type Failure,
  content,
  ipv4,
  ipv6,
  nameInvalid,
  post,
  priorityInvalid,
  quotes,
  required,
  ttlInvalid,
  variations,
} from "./case.ts";

// Names.
const labels = "| |1|-a|a-|a_|a..b|.a|a b|a!|*a|a.*|a/b|www.other.test.".split("|");
const names = [...labels, "a".repeat(64), "a.".repeat(127), 7, {}, [], true];
for (const name of names) {
  post({ type: "A", name, content: "192.0.2.9" }, nameInvalid);
}
for (const type of ["AAAA", "CNAME"]) {
  post({ type, name: "1", content: type === "AAAA" ? "::1" : "x.test" }, nameInvalid);
}
post({ type: "TXT", name: "a..b", content: "x" }, nameInvalid);
post({ type: "MX", name: "a b", content: "x.test", priority: 1 }, nameInvalid);
post({ type: "A", content: "192.0.2.9" }, required("name"));
post({ type: "A", name: null, content: "192.0.2.9" }, required("name"));

// Types.
post({ name: "new", content: "192.0.2.9" }, required("type"));
for (const type of ["", "a b", "DNAME", "ANY", "constructor", "__proto__", 1, {}]) {
  post({ type, name: "new", content: "x" }, [
    9400,
    `DNS record type ${JSON.stringify(type)} is not supported.`,
  ]);
}
post({ type: "SOA", name: "@", data: {} }, [
  9401,
  "SOA records are created with the zone; change them with dns_settings.",
]);

// TTL.
for (const ttl of [0, -1, 2, 59, 86_401, 1.5, "x", "", true, {}, 1e20]) {
  post({ type: "A", name: "new", content: "192.0.2.9", ttl }, ttlInvalid);
}
post({ type: "A", name: "new", content: "192.0.2.9", ttl: 30, proxied: true }, ttlInvalid);

// A and AAAA.
const notIpv4 = "|x|192.0.2|192.0.2.256|192.0.2.01|192.0.2.1.1|::1|192.0.2.1/24".split("|");
for (const address of [...notIpv4, 1, {}, ["192.0.2.1"]]) {
  post({ type: "A", name: "new", content: address }, ipv4);
}
const notIpv6 = "|x|192.0.2.1|:::|1:2:3:4:5:6:7|1:2:3:4:5:6:7:8:9|2001:db8::g|fe80::1%eth0|[::1]";
for (const address of [...notIpv6.split("|"), 7]) {
  post({ type: "AAAA", name: "new", content: address }, ipv6);
}
for (const type of ["A", "AAAA", "CNAME", "NS", "PTR", "TXT", "OPENPGPKEY"]) {
  post({ type, name: "new" }, required("content"));
}
post({ type: "A", name: "new", content: "198.18.0.1" }, [
  9431,
  "Content cannot be 198.18.0.1, an address of the platform itself.",
]);
post({ type: "AAAA", name: "new", content: "2001:2:0::2" }, [
  9431,
  "Content cannot be 2001:2::2, an address of the platform itself.",
]);
post({ type: "A", name: "new", content: "198.18.0.2", proxied: true }, [
  9003,
  "Target 198.18.0.2 is not allowed for a proxied record.",
]);

// Hostnames as content.
for (const type of ["CNAME", "NS", "PTR"]) {
  for (const target of ["", ".", "192.0.2.1", "a..b", "a b", "a".repeat(64), "http://x.test/", 7]) {
    post({ type, name: "new", content: target }, content(type));
  }
}
variations({ type: "MX", content: "mail.test", priority: 10 }, [
  [{ priority: undefined }, required("priority")],
  [{ priority: null }, required("priority")],
  [{ priority: -1 }, priorityInvalid],
  [{ priority: 65_536 }, priorityInvalid],
  [{ priority: 1.5 }, priorityInvalid],
  [{ priority: "ten" }, priorityInvalid],
  [{ content: undefined }, required("content")],
  [{ content: "10 mail.test" }, content("MX")],
  [{ content: "192.0.2.1" }, content("MX")],
  [{ content: "", priority: undefined }, required("priority"), content("MX")],
]);

// TXT: quotation marks, length, and the required parts of DKIM, SPF and DMARC.
const unquoted = `"open|close"|a "b"|"a" b|"a"b"|"a""b"|"|"\\"|"\\999"|"a" "b`.split("|");
for (const wrong of unquoted) {
  post({ type: "TXT", name: "new", content: wrong }, quotes);
}
post({ type: "TXT", name: "new", content: "" }, content("TXT"));
post({ type: "TXT", name: "new", content: 7 }, content("TXT"));
post({ type: "TXT", name: "new", content: "x".repeat(4090) }, [
  9015,
  "Record content exceeds the allowed length of 4096 wire format bytes.",
]);
for (const [code, kind, name, record, reason] of [
  [9421, "SPF", "new", "v=spf1include:x.test", "it must start with v=spf1 and a space"],
  [9421, "SPF", "new", "v=spf1 al", '"al" is not a mechanism'],
  [9421, "SPF", "new", "v=spf1 ip4:192.0.2.300 -all", '"ip4:192.0.2.300" is malformed'],
  [9421, "SPF", "new", "v=spf1 include -all", '"include" is malformed'],
  [9421, "SPF", "new", "v=spf1 redirect=", '"redirect=" has no valid domain'],
  [9421, "SPF", "new", `v=spf1 ${"a ".repeat(11)}-all`, "it needs 11 lookups and 10 are allowed"],
  [9422, "DKIM", "s._domainkey", "hello", '"hello" is not of the form name=value'],
  [9422, "DKIM", "s._domainkey", "v=DKIM1; k=rsa", "p= is missing (an empty p= revokes the key)"],
  [9422, "DKIM", "s._domainkey", "v=DKIM1; p=***", "p= is not base64"],
  [9422, "DKIM", "s._domainkey", "v=DKIM2; p=AQID", "v= must be DKIM1"],
  [9422, "DKIM", "s._domainkey", "p=AQID; v=DKIM1", "v= must come first"],
  [9422, "DKIM", "s._domainkey", "v=DKIM1; k=dsa; p=AQID", "k=dsa is not allowed"],
  [9423, "DMARC", "_dmarc", "p=none", "it must start with v=DMARC1"],
  [9423, "DMARC", "_dmarc", "v=DMARC1", "p= is missing"],
  [9423, "DMARC", "_dmarc", "v=DMARC1; p=block", "p=block is not allowed"],
  [9423, "DMARC", "_dmarc", "v=DMARC1; p=none; pct=101", "pct=101 is not allowed"],
  [9423, "DMARC", "_dmarc", "v=DMARC1; p=none; rua=a@x.test", "rua=a@x.test is not allowed"],
] as const) {
  const failure: Failure = [code, `${kind} record is invalid: ${reason}.`];
  post({ type: "TXT", name, content: record }, failure);
}
const place = (reason: string): Failure => [9424, reason];
post(
  { type: "DKIM", name: "new", content: "v=DKIM1; p=" },
  place("DKIM records belong at <selector>._domainkey."),
);
post(
  { type: "DMARC", name: "new", content: "v=DMARC1; p=none" },
  place("DMARC records belong at _dmarc."),
);
post(
  { type: "SPF", name: "new", content: "hello" },
  place("SPF records belong at a name that sends mail and start with v=spf1."),
);
