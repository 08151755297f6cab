/** Structured types: first the data object, then each field. */
import {
  base64,
  decimal,
  fields,
  hex,
  host,
  numbers,
  octets,
  parameter,
  post,
  priorityInvalid,
  range,
  required,
  text,
  variations,
} from "./case.ts";

const types = "CAA CERT DNSKEY DS HTTPS LOC NAPTR SMIMEA SRV SSHFP SVCB TLSA";
for (const type of types.split(" ")) {
  for (const data of ["x", 7, []])
    post({ type, name: "new", data }, [9402, "data must be an object."]);
}

export const caa = { type: "CAA", data: { flags: 0, tag: "issue", value: "ca.test" } };
numbers(caa, 255, "flags");
fields(caa, "tag", text("tag", "1 to 15 letters and digits"), "", "is-sue", "x".repeat(16), 7);
fields(caa, "value", text("value", "printable ASCII"), 7, "ü");
const issue = text("value", "a hostname with optional parameters for issue");
const iodef = text("value", "a mailto:, http: or https: URL for iodef");
variations(caa, [
  [{ data: { value: "not a host" } }, issue],
  [{ data: { tag: "iodef", value: "x@y.test" } }, iodef],
]);

const cert = { type: "CERT", data: { type: 1, key_tag: 1, algorithm: 8, certificate: "AQID" } };
numbers(cert, 65_535, "type", "key_tag");
numbers(cert, 255, "algorithm");
const dnskey = {
  type: "DNSKEY",
  data: { flags: 257, protocol: 3, algorithm: 13, public_key: "AQID" },
};
numbers(dnskey, 65_535, "flags");
numbers(dnskey, 255, "algorithm");
variations(dnskey, [[{ data: { protocol: 2 } }, [9412, "protocol must be one of 3."]]]);
const notBase64 = ["", "A", "AQI", "AQ==ID", "A*ID", 7];
fields(cert, "certificate", base64("certificate"), ...notBase64);
fields(dnskey, "public_key", base64("public_key"), ...notBase64);
for (const wrong of ["", "A", "***", 7])
  post({ type: "OPENPGPKEY", name: "new", content: wrong }, base64("content"));

const digest = "ab".repeat(32);
const ds = { type: "DS", data: { key_tag: 1, algorithm: 8, digest_type: 2, digest } };
numbers(ds, 65_535, "key_tag");
numbers(ds, 255, "algorithm", "digest_type");
variations(ds, [
  [{ data: { digest: "ab" } }, octets("digest", 32)],
  [{ data: { digest_type: 1 } }, octets("digest", 20)],
  [{ name: "@" }, [9432, "DS records belong below the apex, beside a delegation."]],
]);
const sshfp = { type: "SSHFP", data: { algorithm: 4, type: 2, fingerprint: digest } };
numbers(sshfp, 255, "algorithm", "type");
variations(sshfp, [[{ data: { type: 1 } }, octets("fingerprint", 20)]]);
const tlsa = {
  type: "TLSA",
  data: { usage: 3, selector: 1, matching_type: 1, certificate: digest },
};
for (const good of [tlsa, { ...tlsa, type: "SMIMEA" }]) {
  numbers(good, 255, "usage", "selector", "matching_type");
  variations(good, [[{ data: { matching_type: 2 } }, octets("certificate", 64)]]);
}
for (const [good, field] of [
  [ds, "digest"],
  [sshfp, "fingerprint"],
  [tlsa, "certificate"],
] as const) {
  fields(good, field, hex(field), "", "abc", "zz", 7);
}

export const srv = { type: "SRV", data: { priority: 1, weight: 2, port: 3, target: "x.test" } };
numbers(srv, 65_535, "weight", "port");
fields(srv, "priority", priorityInvalid, 65_536);
fields(srv, "target", host("target"), "", "192.0.2.1", "a b");
const badNumbers = [range("weight", 65_535), range("port", 65_535)];
variations(srv, [[{ data: { weight: -1, port: -1, target: "" } }, ...badNumbers, host("target")]]);

const uri = { type: "URI", priority: 1, data: { weight: 1, target: "https://x.test/" } };
numbers(uri, 65_535, "weight");
fields(uri, "target", text("target", "a URI with a scheme"), "", "no scheme");
variations(uri, [
  [{ priority: undefined }, required("priority")],
  [{ priority: 65_536 }, priorityInvalid],
]);

const naptrData = { order: 1, preference: 2, flags: "S", service: "SIP+D2U", regex: "" };
const naptr = { type: "NAPTR", data: { ...naptrData, replacement: "x.test" } };
numbers(naptr, 65_535, "order", "preference");
fields(naptr, "flags", text("flags", "letters and digits"), "!");
fields(naptr, "service", text("service", "at most 255 letters, digits and +:._-"), "a b");
fields(naptr, "replacement", host("replacement"), "a b");
const regexTooLong = text("regex", "at most 255 characters of printable ASCII");
variations(naptr, [
  [{ data: { regex: "x".repeat(256) } }, regexTooLong],
  [{ data: { regex: "!a!b!" } }, [9415, "regex and replacement cannot both be set."]],
]);

const parameters: Record<string, string> = {
  "nonsense=1": "nonsense is not a key",
  "key65535=x": "key65535 is not a key",
  alpn: "alpn needs a value",
  "alpn=h2,,h3": "a list has an empty item",
  "alpn=h2 alpn=h3": "a key is given twice",
  "port=65536": "port must be between 0 and 65535",
  "ipv4hint=::1": "::1 is not an address for ipv4hint",
  "ipv6hint=192.0.2.1": "192.0.2.1 is not an address for ipv6hint",
  "ech=***": "ech must be base64",
  "no-default-alpn": "no-default-alpn needs alpn",
  "mandatory=port alpn=h2": "mandatory key port is missing",
  "mandatory=mandatory": "mandatory cannot list itself",
  "ohttp=1": "ohttp takes no value",
  'alpn="h2': "a quotation mark is not closed",
};
for (const type of ["SVCB", "HTTPS"]) {
  const good = { type, data: { priority: 1, target: ".", value: "alpn=h2" } };
  numbers(good, 65_535, "priority");
  fields(good, "target", host("target"), "");
  variations(good, [
    [{ data: { value: 7 } }, [9404, "value must be a string."]],
    [{ data: { priority: 0 } }, parameter("priority 0 takes no parameters")],
    ...Object.entries(parameters).map(
      ([value, reason]) => [{ data: { value } }, parameter(reason)] as const,
    ),
  ]);
}

const latitude = { lat_degrees: 37, lat_minutes: 46, lat_seconds: 46, lat_direction: "N" };
const longitude = { long_degrees: 122, long_minutes: 23, long_seconds: 35, long_direction: "W" };
const extent = { altitude: 0, size: 100, precision_horz: 0, precision_vert: 0 };
const loc = { type: "LOC", data: { ...latitude, ...longitude, ...extent } };
fields(loc, "lat_degrees", range("lat_degrees", 90), 91, 1.5);
fields(loc, "lat_direction", [9412, "lat_direction must be one of N, S."], "E");
const altitude = decimal("altitude", -100_000, 42_849_672.95);
fields(loc, "altitude", altitude, -100_001, 42_849_673);
variations(loc, [
  [{ data: { lat_degrees: 90 } }, decimal("latitude", 0, 90)],
  [{ data: { lat_minutes: 60 } }, range("lat_minutes", 59)],
  [{ data: { lat_seconds: 60 } }, decimal("lat_seconds", 0, 59.999)],
  [{ data: { long_degrees: 181 } }, range("long_degrees", 180)],
  [{ data: { long_degrees: 180 } }, decimal("longitude", 0, 180)],
  [{ data: { long_minutes: -1 } }, range("long_minutes", 59)],
  [{ data: { long_seconds: "x" } }, decimal("long_seconds", 0, 59.999)],
  [{ data: { long_direction: "N" } }, [9412, "long_direction must be one of E, W."]],
  [{ data: { size: 90_000_001 } }, decimal("size", 0, 90_000_000)],
  [{ data: { precision_horz: -1 } }, decimal("precision_horz", 0, 90_000_000)],
  [{ data: { precision_vert: "1m" } }, decimal("precision_vert", 0, 90_000_000)],
]);
