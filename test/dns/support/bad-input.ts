/**
 * Requests that must fail, each with the code, status and message that it must fail with. The
 * messages are written out here, not taken from the worker's table.
 */
export interface BadInput {
  readonly title: string;
  readonly method: string;
  /** Below the zone; the placeholder {id} is the id of an A record. */
  readonly path: string;
  readonly body?: unknown;
  readonly raw?: { readonly type: string | null; readonly body: string | Uint8Array<ArrayBuffer> };
  readonly status: number;
  readonly errors: readonly (readonly [code: number, message: string])[];
}

type Body = Record<string, unknown>;
type Failure = readonly [code: number, message: string];

const required = (field: string): Failure => [9100, `${field} is a required field.`];
const requiredData = (field: string): Failure => [9100, `${field} is a required data field.`];
const range = (field: string, max: number, min = 0): Failure => [
  9406,
  `${field} must be a whole number between ${min} and ${max}.`,
];
const decimal = (field: string, min: number, max: number): Failure => [
  9407,
  `${field} must be a number between ${min} and ${max}.`,
];
const host = (field: string): Failure => [9408, `${field} must be a hostname.`];
const hex = (field: string): Failure => [
  9409,
  `${field} must be an even number of hexadecimal digits.`,
];
const base64 = (field: string): Failure => [9410, `${field} must be base64 with padding.`];
const text = (field: string, rule: string): Failure => [9411, `${field} must be ${rule}.`];
const octets = (field: string, bytes: number): Failure => [
  9413,
  `${field} must be ${bytes} octets long for its type.`,
];
const parameter = (reason: string): Failure => [9414, `value is invalid: ${reason}.`];
const boolean = (field: string): Failure => [9403, `${field} must be true or false.`];
const nameInvalid: Failure = [9000, "DNS name is invalid."];
const ttlInvalid: Failure = [9021, "TTL must be between 60 and 86400 seconds, or 1 for Automatic."];
const priorityInvalid: Failure = [9008, "priority must be between 0 and 65535."];
const quotes: Failure = [9416, "Content for TXT record has inconsistent quotation marks."];
const content = (type: string): Failure => [9007, `Content for ${type} record is invalid.`];
const ipv4: Failure = [9005, "Content for A record must be a valid IPv4 address."];
const ipv6: Failure = [9005, "Content for AAAA record must be a valid IPv6 address."];
const missing: Failure = [81044, "Record does not exist."];
const identical: Failure = [81058, "An identical record already exists."];

const cases: BadInput[] = [];

function post(body: unknown, ...errors: Failure[]): void {
  cases.push({
    title: `POST ${JSON.stringify(body)?.slice(0, 120)}`,
    method: "POST",
    path: "/dns_records",
    body,
    status: 400,
    errors,
  });
}

function on(
  method: string,
  path: string,
  body: unknown,
  status: number,
  ...errors: Failure[]
): void {
  const title = `${method} ${path} ${JSON.stringify(body)?.slice(0, 100) ?? ""}`;
  cases.push({ title, method, path, body, status, errors });
}

/** A record that would be taken, with one thing changed. */
function variations(good: Body, changes: readonly (readonly [Body, ...Failure[]])[]): void {
  for (const [change, ...errors] of changes) {
    const data = change["data"] as Body | undefined;
    const merged = { name: "new", ...good, ...change };
    const body =
      data === undefined ? merged : { ...merged, data: { ...(good["data"] as Body), ...data } };
    post(body, ...errors);
  }
}

/** Each way in which a number can be wrong. */
function numbers(good: Body, field: string, max: number): void {
  variations(good, [
    [{ data: { [field]: undefined } }, requiredData(field)],
    [{ data: { [field]: null } }, requiredData(field)],
    [{ data: { [field]: -1 } }, range(field, max)],
    [{ data: { [field]: max + 1 } }, range(field, max)],
    [{ data: { [field]: 1.5 } }, range(field, max)],
    [{ data: { [field]: "x" } }, range(field, max)],
    [{ data: { [field]: "" } }, range(field, max)],
    [{ data: { [field]: true } }, range(field, max)],
  ]);
}

// Names.
for (const name of [
  "",
  " ",
  "1",
  "-a",
  "a-",
  "a_",
  "a..b",
  ".a",
  "a b",
  "a!",
  "*a",
  "a.*",
  "a/b",
  "a".repeat(64),
  "a.".repeat(127),
  "www.other.test.",
  7,
  {},
  [],
  true,
]) {
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
for (const address of [
  "",
  "x",
  "192.0.2",
  "192.0.2.256",
  "192.0.2.01",
  "192.0.2.1.1",
  "::1",
  "192.0.2.1/24",
  1,
  {},
  ["192.0.2.1"],
]) {
  post({ type: "A", name: "new", content: address }, ipv4);
}
for (const address of [
  "",
  "x",
  "192.0.2.1",
  ":::",
  "1:2:3:4:5:6:7",
  "1:2:3:4:5:6:7:8:9",
  "2001:db8::g",
  "fe80::1%eth0",
  "[::1]",
  7,
]) {
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

// TXT: quotation marks, length, and what DKIM, SPF and DMARC must contain.
for (const wrong of [
  '"open',
  'close"',
  'a "b"',
  '"a" b',
  '"a"b"',
  '"a""b"',
  '"',
  '"\\"',
  '"\\999"',
  '"a" "b',
]) {
  post({ type: "TXT", name: "new", content: wrong }, quotes);
}
post({ type: "TXT", name: "new", content: "" }, content("TXT"));
post({ type: "TXT", name: "new", content: 7 }, content("TXT"));
post({ type: "TXT", name: "new", content: "x".repeat(4090) }, [
  9015,
  "Record content exceeds the allowed length of 4096 wire format bytes.",
]);
const spf = (policy: string, reason: string) =>
  post({ type: "TXT", name: "new", content: policy }, [9421, `SPF record is invalid: ${reason}.`]);
spf("v=spf1include:x.test", "it must start with v=spf1 and a space");
spf("v=spf1 al", '"al" is not a mechanism');
spf("v=spf1 ip4:192.0.2.300 -all", '"ip4:192.0.2.300" is malformed');
spf("v=spf1 include -all", '"include" is malformed');
spf("v=spf1 redirect=", '"redirect=" has no valid domain');
spf(`v=spf1 ${"a ".repeat(11)}-all`, "it needs 11 lookups and 10 are allowed");
const dkim = (record: string, reason: string) =>
  post({ type: "TXT", name: "s._domainkey", content: record }, [
    9422,
    `DKIM record is invalid: ${reason}.`,
  ]);
dkim("hello", '"hello" is not of the form name=value');
dkim("v=DKIM1; k=rsa", "p= is missing (an empty p= revokes the key)");
dkim("v=DKIM1; p=***", "p= is not base64");
dkim("v=DKIM2; p=AQID", "v= must be DKIM1");
dkim("p=AQID; v=DKIM1", "v= must come first");
dkim("v=DKIM1; k=dsa; p=AQID", "k=dsa is not allowed");
const dmarc = (record: string, reason: string) =>
  post({ type: "TXT", name: "_dmarc", content: record }, [
    9423,
    `DMARC record is invalid: ${reason}.`,
  ]);
dmarc("p=none", "it must start with v=DMARC1");
dmarc("v=DMARC1", "p= is missing");
dmarc("v=DMARC1; p=block", "p=block is not allowed");
dmarc("v=DMARC1; p=none; pct=101", "pct=101 is not allowed");
dmarc("v=DMARC1; p=none; rua=a@x.test", "rua=a@x.test is not allowed");
post({ type: "DKIM", name: "new", content: "v=DKIM1; p=" }, [
  9424,
  "DKIM records belong at <selector>._domainkey.",
]);
post({ type: "DMARC", name: "new", content: "v=DMARC1; p=none" }, [
  9424,
  "DMARC records belong at _dmarc.",
]);
post({ type: "SPF", name: "new", content: "hello" }, [
  9424,
  "SPF records belong at a name that sends mail and start with v=spf1.",
]);

// Structured types: the data itself, then field by field.
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

const caa = { type: "CAA", data: { flags: 0, tag: "issue", value: "ca.test" } };
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

const srv = { type: "SRV", data: { priority: 1, weight: 2, port: 3, target: "x.test" } };
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

// Proxied, comments, tags, settings.
for (const proxied of ["true", 1, {}])
  post({ type: "A", name: "new", content: "192.0.2.9", proxied }, boolean("proxied"));
for (const good of [
  caa,
  srv,
  { type: "TXT", content: "x" },
  { type: "MX", content: "x.test", priority: 1 },
  { type: "NS", content: "x.test" },
]) {
  post({ name: "new", ...good, proxied: true }, [9004, "This record type cannot be proxied."]);
}
post({ type: "CNAME", name: "new", content: "nothing.example.com", proxied: true }, [
  9003,
  "Target nothing.example.com is not allowed for a proxied record.",
]);
post({ type: "CNAME", name: "new", content: "text.example.com", proxied: true }, [
  9003,
  "Target text.example.com is not allowed for a proxied record.",
]);
post({ type: "CNAME", name: "new", content: "new.example.com", proxied: true }, [
  9003,
  "Target new.example.com is not allowed for a proxied record.",
]);
post({ type: "CNAME", name: "new", content: "missing.neighbour.test", proxied: true }, [
  9003,
  "Target missing.neighbour.test is not allowed for a proxied record.",
]);
const a = { type: "A", name: "new", content: "192.0.2.9" };
post({ ...a, comment: "x".repeat(101) }, [
  9313,
  "DNS record comment exceeds the maximum length of 100 characters.",
]);
post({ ...a, comment: 7 }, [9404, "comment must be a string."]);
post({ ...a, comment: "two\nlines" }, [9434, "comment must not contain control characters."]);
for (const tags of ["a:b", {}, [1], 7])
  post({ ...a, tags }, [9405, "tags must be a list of strings."]);
for (const tag of [
  "a",
  ":b",
  "a b:c",
  "a:b,c",
  "cf-proxied:true",
  `${"x".repeat(33)}:y`,
  `a:${"x".repeat(101)}`,
]) {
  post({ ...a, tags: [tag] }, [
    9433,
    `Tag ${tag} is invalid: write name:value, name of letters, digits, - and _.`,
  ]);
}
post({ ...a, tags: Array.from({ length: 21 }, (_, index) => `t${index}:x`) }, [
  9300,
  "DNS record has 21 tags, exceeding the quota of 20.",
]);
post({ ...a, settings: "x" }, [9402, "settings must be an object."]);
post({ ...a, settings: { ipv4_only: 1 } }, boolean("settings.ipv4_only"));
post({ ...a, settings: { ipv4_only: true, ipv6_only: true } }, [
  9415,
  "settings.ipv4_only and settings.ipv6_only cannot both be set.",
]);
post({ ...a, settings: { flatten_cname: true } }, [
  9435,
  "Setting flatten_cname does not apply to A records.",
]);
post(
  { type: "A", name: "1", content: "x", ttl: 2, comment: 1 },
  nameInvalid,
  [9404, "comment must be a string."],
  ttlInvalid,
  ipv4,
);

// Conflicts with what the zone holds.
const hostTaken: Failure = [81053, "An A, AAAA, or CNAME record with that host already exists."];
const cnameTaken: Failure = [81054, "A CNAME record with that host already exists."];
post({ type: "A", name: "www", content: "192.0.2.1" }, identical);
post(
  { type: "A", name: "WWW.example.com.", content: "192.0.2.1", ttl: 300, comment: "x" },
  identical,
);
post({ type: "MX", name: "@", content: "MAIL.example.com.", priority: 10 }, identical);
post({ type: "TXT", name: "text", content: "hello" }, identical);
post({ type: "NS", name: "@", content: "ns1.ledge.local" }, identical);
post({ type: "CNAME", name: "www", content: "x.test" }, hostTaken);
post({ type: "CNAME", name: "alias", content: "y.test" }, hostTaken);
post({ type: "A", name: "alias", content: "192.0.2.9" }, cnameTaken);
post({ type: "AAAA", name: "alias", content: "::9" }, cnameTaken);
post({ type: "A", name: "delegated", content: "192.0.2.9" }, [
  81056,
  "NS records with that host already exist.",
]);
post({ type: "TXT", name: "delegated", content: "x" }, [
  81056,
  "NS records with that host already exist.",
]);
post({ type: "NS", name: "www", content: "x.test" }, [
  81055,
  "Records of another type with that host already exist; NS cannot join them.",
]);

// Records that are there, or are not.
const nowhere = "/dns_records/00000000000000000000000000000000";
on("GET", nowhere, undefined, 404, missing);
on("DELETE", nowhere, undefined, 404, missing);
on("PUT", nowhere, a, 404, missing);
on("PATCH", nowhere, {}, 404, missing);
on("PUT", "/dns_records/{id}", {}, 400, required("type"), required("name"));
on("PUT", "/dns_records/{id}", { type: "A", name: "www" }, 400, required("content"));
on("PUT", "/dns_records/{id}", { type: "A", name: "alias", content: "192.0.2.9" }, 400, cnameTaken);
on("PATCH", "/dns_records/{id}", { content: "x" }, 400, ipv4);
on("PATCH", "/dns_records/{id}", { ttl: 2 }, 400, ttlInvalid);
on("PATCH", "/dns_records/{id}", { name: "alias" }, 400, cnameTaken);
on("PATCH", "/dns_records/{id}", { type: "MX" }, 400, required("priority"), required("content"));
on("PATCH", "/dns_records/{id}", { content: "192.0.2.2" }, 400, identical);
on("PATCH", "/dns_records/{id}", { content: null }, 400, required("content"));

// Batches.
const noOperations: Failure = [
  9443,
  "A batch needs at least one of deletes, patches, puts and posts.",
];
on("POST", "/dns_records/batch", {}, 400, noOperations);
on("POST", "/dns_records/batch", { posts: [] }, 400, noOperations);
on("POST", "/dns_records/batch", { posts: {} }, 400, [9405, "posts must be a list of objects."]);
on("POST", "/dns_records/batch", { deletes: ["x"] }, 400, [
  9405,
  "deletes must be a list of objects.",
]);
for (const list of ["deletes", "patches", "puts"])
  on("POST", "/dns_records/batch", { [list]: [{}] }, 400, required("id"));
on(
  "POST",
  "/dns_records/batch",
  { deletes: [{ id: "{id}" }, { id: "0".repeat(32) }] },
  404,
  missing,
);
on("POST", "/dns_records/batch", { posts: [a, { ...a, content: "x" }] }, 400, ipv4);
on("POST", "/dns_records/batch", { posts: [a, a] }, 400, identical);
on("POST", "/dns_records/batch", { posts: Array.from({ length: 3501 }, () => ({})) }, 400, [
  9442,
  "A batch holds at most 3500 operations.",
]);

// Lists, settings, routes and methods.
const oneOf = (field: string, ...values: string[]): Failure => [
  9412,
  `${field} must be one of ${values.join(", ")}.`,
];
on("GET", "/dns_records?page=0", undefined, 400, [
  9436,
  "page must be a whole number from 1 upwards.",
]);
on("GET", "/dns_records?per_page=x", undefined, 400, [
  9436,
  "per_page must be a whole number from 1 upwards.",
]);
on(
  "GET",
  "/dns_records?order=id",
  undefined,
  400,
  oneOf("order", "type", "name", "content", "ttl", "proxied"),
);
on("GET", "/dns_records?direction=up", undefined, 400, oneOf("direction", "asc", "desc"));
on(
  "GET",
  "/dns_records?match=some&tag_match=none",
  undefined,
  400,
  oneOf("match", "any", "all"),
  oneOf("tag_match", "any", "all"),
);
on("GET", "/dns_records?proxied=maybe", undefined, 400, oneOf("proxied", "true", "false"));
on("PATCH", "/dns_settings", { flatten_all_cnames: "yes" }, 400, boolean("flatten_all_cnames"));
on("PATCH", "/dns_settings", { ns_ttl: 1 }, 400, range("ns_ttl", 86_400, 30));
on("PATCH", "/dns_settings", { soa: 7 }, 400, [9402, "soa must be an object."]);
on(
  "PATCH",
  "/dns_settings",
  { soa: { retry: 1, mname: "a b" } },
  400,
  range("soa.retry", 86_400, 600),
  host("soa.mname"),
);
on(
  "PATCH",
  "/dns_settings",
  { zone_mode: "x" },
  400,
  oneOf("zone_mode", "standard", "cdn_only", "dns_only"),
);
on("PATCH", "/settings/http3", { value: "maybe" }, 400, oneOf("value", "on", "off"));
on("PATCH", "", { paused: "x" }, 400, boolean("paused"));
on("PATCH", "", { vanity_name_servers: ["a b"] }, 400, host("vanity_name_servers"));
on("PUT", "/dns_records", a, 405, [7001, "Method PUT not available for that URI."]);
on("POST", "/dns_records/export", a, 405, [7001, "Method POST not available for that URI."]);
for (const path of [
  "/nothing",
  "/dns_records/short",
  "/dns_records/{id}/more",
  "/settings/brotli",
]) {
  on("GET", path, undefined, 404, [
    7003,
    `Could not route to /client/v4/zones/{zone}${path}, perhaps your object identifier is invalid?`,
  ]);
}

// Bodies.
function raw(
  method: string,
  path: string,
  type: string | null,
  body: string | Uint8Array<ArrayBuffer>,
  status: number,
  ...errors: Failure[]
): void {
  const title = `${method} ${path} as ${type}: ${typeof body === "string" ? body.slice(0, 40) : `${body.length} octets`}`;
  cases.push({ title, method, path, raw: { type, body }, status, errors });
}
const json = "application/json";
const malformed: Failure = [6007, "Malformed JSON in request body"];
for (const body of ["", "{", "{'a':1}", '{"a":1,}', "nope", '{"type":"A"', "\u0000"])
  raw("POST", "/dns_records", json, body, 400, malformed);
raw("POST", "/dns_records", json, Uint8Array.of(0x22, 0xff, 0x22), 400, malformed);
for (const body of ["[]", "7", '"x"', "null"])
  raw("POST", "/dns_records", json, body, 400, [9441, "Request body must be a JSON object."]);
const contentType: Failure = [9207, "Content-type must be application/json."];
for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])
  raw("POST", "/dns_records", type, "{}", 400, contentType);
raw("PUT", "/dns_records/{id}", "text/plain", "{}", 400, contentType);
raw("PATCH", "/dns_records/{id}", "text/plain", "{}", 400, contentType);
raw("POST", "/dns_records/batch", "text/plain", "{}", 400, contentType);
raw("PATCH", "/dns_settings", "text/plain", "{}", 400, contentType);
raw("POST", "/dns_records", json, `{"comment":"${"x".repeat(5_000_000)}"}`, 413, [
  9440,
  "Request body is larger than 4194304 bytes.",
]);
raw("POST", "/dns_records/batch", json, " ".repeat(5_000_000), 413, [
  9440,
  "Request body is larger than 4194304 bytes.",
]);

// Zone files.
const boundary = "multipart/form-data; boundary=x";
function file(name: string, text_: string, status: number, ...errors: Failure[]): void {
  raw(
    "POST",
    "/dns_records/import",
    boundary,
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text_}\r\n--x--\r\n`,
    status,
    ...errors,
  );
}
const line = (number: number, reason: string): Failure => [9446, `Line ${number}: ${reason}.`];
raw("POST", "/dns_records/import", json, "{}", 400, [
  9207,
  "Content-type must be multipart/form-data.",
]);
raw("POST", "/dns_records/import", boundary, "nonsense", 400, [
  9444,
  "file is a required field of the form.",
]);
file("other", "x", 400, [9444, "file is a required field of the form."]);
file("file", "new A 192.0.2.9\n$INCLUDE x", 400, line(2, "$INCLUDE is not allowed"));
file(
  "file",
  "new A 192.0.2.9\nnew A x\nnew2 AAAA y",
  400,
  [9005, "Line 2: Content for A record must be a valid IPv4 address."],
  [9005, "Line 3: Content for AAAA record must be a valid IPv6 address."],
);
file("file", "new A 192.0.2.9\nalias A 192.0.2.9", 400, [
  81054,
  "Line 2: A CNAME record with that host already exists.",
]);
file("file", "new DNAME x", 400, [9400, 'Line 1: DNS record type "DNAME" is not supported.']);
file("file", 'new TXT "open', 400, line(1, "a quotation mark is not closed"));
file("file", "new MX 10", 400, line(1, "the data of a MX record is incomplete or too long"));
file("file", "new.other.test. A 192.0.2.9", 400, [9000, "Line 1: DNS name is invalid."]);
file("file", "new 5 A 192.0.2.9", 400, [9021, `Line 1: ${ttlInvalid[1]}`]);
file("file", "x".repeat(262_145), 400, [9445, "Zone file is larger than 262144 bytes."]);
file("file", "x".repeat(400_000), 413, [9440, "Request body is larger than 327680 bytes."]);

export const badInputs: readonly BadInput[] = cases;
