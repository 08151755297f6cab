/** Structured types: first the data object, then each field. */
import {
  base64,
  decimal,
  hex,
  host,
  numbers,
  octets,
  parameter,
  post,
  priorityInvalid,
  range,
  required,
  requiredData,
  text,
  variations,
} from "./case.ts";

for (const type of [
  "CAA",
  "CERT",
  "DNSKEY",
  "DS",
  "HTTPS",
  "LOC",
  "NAPTR",
  "SMIMEA",
  "SRV",
  "SSHFP",
  "SVCB",
  "TLSA",
]) {
  for (const data of ["x", 7, []])
    post({ type, name: "new", data }, [9402, "data must be an object."]);
}

export const caa = { type: "CAA", data: { flags: 0, tag: "issue", value: "ca.test" } };
numbers(caa, "flags", 255);
variations(caa, [
  [{ data: { tag: undefined } }, requiredData("tag")],
  [{ data: { tag: "" } }, text("tag", "1 to 15 letters and digits")],
  [{ data: { tag: "is-sue" } }, text("tag", "1 to 15 letters and digits")],
  [{ data: { tag: "x".repeat(16) } }, text("tag", "1 to 15 letters and digits")],
  [{ data: { tag: 7 } }, text("tag", "1 to 15 letters and digits")],
  [{ data: { value: undefined } }, requiredData("value")],
  [{ data: { value: 7 } }, text("value", "printable ASCII")],
  [{ data: { value: "ü" } }, text("value", "printable ASCII")],
  [
    { data: { value: "not a host" } },
    text("value", "a hostname with optional parameters for issue"),
  ],
  [
    { data: { tag: "iodef", value: "x@y.test" } },
    text("value", "a mailto:, http: or https: URL for iodef"),
  ],
]);

const cert = { type: "CERT", data: { type: 1, key_tag: 1, algorithm: 8, certificate: "AQID" } };
numbers(cert, "type", 65_535);
numbers(cert, "key_tag", 65_535);
numbers(cert, "algorithm", 255);
const dnskey = {
  type: "DNSKEY",
  data: { flags: 257, protocol: 3, algorithm: 13, public_key: "AQID" },
};
numbers(dnskey, "flags", 65_535);
numbers(dnskey, "algorithm", 255);
variations(dnskey, [[{ data: { protocol: 2 } }, [9412, "protocol must be one of 3."]]]);
for (const [good, field] of [
  [cert, "certificate"],
  [dnskey, "public_key"],
] as const) {
  variations(good, [
    [{ data: { [field]: undefined } }, requiredData(field)],
    [{ data: { [field]: "" } }, base64(field)],
    [{ data: { [field]: "A" } }, base64(field)],
    [{ data: { [field]: "AQI" } }, base64(field)],
    [{ data: { [field]: "AQ==ID" } }, base64(field)],
    [{ data: { [field]: "A*ID" } }, base64(field)],
    [{ data: { [field]: 7 } }, base64(field)],
  ]);
}
for (const wrong of ["", "A", "***", 7])
  post({ type: "OPENPGPKEY", name: "new", content: wrong }, base64("content"));

const ds = {
  type: "DS",
  data: { key_tag: 1, algorithm: 8, digest_type: 2, digest: "ab".repeat(32) },
};
numbers(ds, "key_tag", 65_535);
numbers(ds, "algorithm", 255);
numbers(ds, "digest_type", 255);
variations(ds, [
  [{ data: { digest: "ab" } }, octets("digest", 32)],
  [{ data: { digest_type: 1 } }, octets("digest", 20)],
  [{ name: "@" }, [9432, "DS records belong below the apex, beside a delegation."]],
]);
const sshfp = { type: "SSHFP", data: { algorithm: 4, type: 2, fingerprint: "ab".repeat(32) } };
numbers(sshfp, "algorithm", 255);
numbers(sshfp, "type", 255);
variations(sshfp, [[{ data: { type: 1 } }, octets("fingerprint", 20)]]);
const tlsa = {
  type: "TLSA",
  data: { usage: 3, selector: 1, matching_type: 1, certificate: "ab".repeat(32) },
};
for (const good of [tlsa, { ...tlsa, type: "SMIMEA" }]) {
  for (const field of ["usage", "selector", "matching_type"]) numbers(good, field, 255);
  variations(good, [[{ data: { matching_type: 2 } }, octets("certificate", 64)]]);
}
for (const [good, field] of [
  [ds, "digest"],
  [sshfp, "fingerprint"],
  [tlsa, "certificate"],
] as const) {
  variations(good, [
    [{ data: { [field]: undefined } }, requiredData(field)],
    [{ data: { [field]: "" } }, hex(field)],
    [{ data: { [field]: "abc" } }, hex(field)],
    [{ data: { [field]: "zz" } }, hex(field)],
    [{ data: { [field]: 7 } }, hex(field)],
  ]);
}

export const srv = { type: "SRV", data: { priority: 1, weight: 2, port: 3, target: "x.test" } };
numbers(srv, "weight", 65_535);
numbers(srv, "port", 65_535);
variations(srv, [
  [{ data: { priority: undefined } }, requiredData("priority")],
  [{ data: { priority: 65_536 } }, priorityInvalid],
  [{ data: { target: undefined } }, requiredData("target")],
  [{ data: { target: "" } }, host("target")],
  [{ data: { target: "192.0.2.1" } }, host("target")],
  [{ data: { target: "a b" } }, host("target")],
  [
    { data: { weight: -1, port: -1, target: "" } },
    range("weight", 65_535),
    range("port", 65_535),
    host("target"),
  ],
]);

const uri = { type: "URI", priority: 1, data: { weight: 1, target: "https://x.test/" } };
numbers(uri, "weight", 65_535);
variations(uri, [
  [{ priority: undefined }, required("priority")],
  [{ priority: 65_536 }, priorityInvalid],
  [{ data: { target: undefined } }, requiredData("target")],
  [{ data: { target: "" } }, text("target", "a URI with a scheme")],
  [{ data: { target: "no scheme" } }, text("target", "a URI with a scheme")],
]);

const naptr = {
  type: "NAPTR",
  data: {
    order: 1,
    preference: 2,
    flags: "S",
    service: "SIP+D2U",
    regex: "",
    replacement: "x.test",
  },
};
numbers(naptr, "order", 65_535);
numbers(naptr, "preference", 65_535);
variations(naptr, [
  [{ data: { flags: undefined } }, requiredData("flags")],
  [{ data: { flags: "!" } }, text("flags", "letters and digits")],
  [{ data: { service: undefined } }, requiredData("service")],
  [{ data: { service: "a b" } }, text("service", "at most 255 letters, digits and +:._-")],
  [
    { data: { regex: "x".repeat(256) } },
    text("regex", "at most 255 characters of printable ASCII"),
  ],
  [{ data: { regex: "!a!b!" } }, [9415, "regex and replacement cannot both be set."]],
  [{ data: { replacement: undefined } }, requiredData("replacement")],
  [{ data: { replacement: "a b" } }, host("replacement")],
]);

const svcb = { data: { priority: 1, target: ".", value: "alpn=h2" } };
for (const type of ["SVCB", "HTTPS"]) {
  const good = { type, ...svcb };
  numbers(good, "priority", 65_535);
  variations(good, [
    [{ data: { target: undefined } }, requiredData("target")],
    [{ data: { target: "" } }, host("target")],
    [{ data: { value: 7 } }, [9404, "value must be a string."]],
    [{ data: { value: "nonsense=1" } }, parameter("nonsense is not a key")],
    [{ data: { value: "key65535=x" } }, parameter("key65535 is not a key")],
    [{ data: { value: "alpn" } }, parameter("alpn needs a value")],
    [{ data: { value: "alpn=h2,,h3" } }, parameter("a list has an empty item")],
    [{ data: { value: "alpn=h2 alpn=h3" } }, parameter("a key is given twice")],
    [{ data: { value: "port=65536" } }, parameter("port must be between 0 and 65535")],
    [{ data: { value: "ipv4hint=::1" } }, parameter("::1 is not an address for ipv4hint")],
    [
      { data: { value: "ipv6hint=192.0.2.1" } },
      parameter("192.0.2.1 is not an address for ipv6hint"),
    ],
    [{ data: { value: "ech=***" } }, parameter("ech must be base64")],
    [{ data: { value: "no-default-alpn" } }, parameter("no-default-alpn needs alpn")],
    [{ data: { value: "mandatory=port alpn=h2" } }, parameter("mandatory key port is missing")],
    [{ data: { value: "mandatory=mandatory" } }, parameter("mandatory cannot list itself")],
    [{ data: { value: "ohttp=1" } }, parameter("ohttp takes no value")],
    [{ data: { value: 'alpn="h2' } }, parameter("a quotation mark is not closed")],
    [{ data: { priority: 0 } }, parameter("priority 0 takes no parameters")],
  ]);
}

const loc = {
  type: "LOC",
  data: {
    lat_degrees: 37,
    lat_minutes: 46,
    lat_seconds: 46,
    lat_direction: "N",
    long_degrees: 122,
    long_minutes: 23,
    long_seconds: 35,
    long_direction: "W",
    altitude: 0,
    size: 100,
    precision_horz: 0,
    precision_vert: 0,
  },
};
variations(loc, [
  [{ data: { lat_degrees: undefined } }, requiredData("lat_degrees")],
  [{ data: { lat_degrees: 91 } }, range("lat_degrees", 90)],
  [{ data: { lat_degrees: 1.5 } }, range("lat_degrees", 90)],
  [{ data: { lat_degrees: 90 } }, decimal("latitude", 0, 90)],
  [{ data: { lat_minutes: 60 } }, range("lat_minutes", 59)],
  [{ data: { lat_seconds: 60 } }, decimal("lat_seconds", 0, 59.999)],
  [{ data: { lat_direction: "E" } }, [9412, "lat_direction must be one of N, S."]],
  [{ data: { lat_direction: undefined } }, requiredData("lat_direction")],
  [{ data: { long_degrees: 181 } }, range("long_degrees", 180)],
  [{ data: { long_degrees: 180 } }, decimal("longitude", 0, 180)],
  [{ data: { long_minutes: -1 } }, range("long_minutes", 59)],
  [{ data: { long_seconds: "x" } }, decimal("long_seconds", 0, 59.999)],
  [{ data: { long_direction: "N" } }, [9412, "long_direction must be one of E, W."]],
  [{ data: { altitude: undefined } }, requiredData("altitude")],
  [{ data: { altitude: -100_001 } }, decimal("altitude", -100_000, 42_849_672.95)],
  [{ data: { altitude: 42_849_673 } }, decimal("altitude", -100_000, 42_849_672.95)],
  [{ data: { size: 90_000_001 } }, decimal("size", 0, 90_000_000)],
  [{ data: { precision_horz: -1 } }, decimal("precision_horz", 0, 90_000_000)],
  [{ data: { precision_vert: "1m" } }, decimal("precision_vert", 0, 90_000_000)],
]);
