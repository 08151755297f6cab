/** Arbitrary record requests that the API must accept, with the edge cases of each type. */
import * as fc from "fast-check";

type Request = Record<string, unknown>;

const letters = "abcdefghijklmnopqrstuvwxyz".split("");
const label = fc
  .tuple(
    fc.constantFrom(...letters),
    fc.string({ unit: fc.constantFrom(...letters, ..."0123456789-_".split("")), maxLength: 12 }),
    fc.constantFrom(...letters, ..."0123456789".split("")),
  )
  .map((parts) => parts.join(""));

const hostname = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
const rootOrHostname = fc.oneof(fc.constant("."), hostname);

const uint8 = fc.integer({ min: 0, max: 255 });
const uint16 = fc.integer({ min: 0, max: 65_535 });
const octets = (min: number, max = min) => fc.uint8Array({ minLength: min, maxLength: max });
const hex = (min: number, max = min) =>
  octets(min, max).map((bytes) => Buffer.from(bytes).toString("hex"));
const base64 = octets(1, 400).map((bytes) => Buffer.from(bytes).toString("base64"));
const printable = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)),
});

const ipv4 = octets(4).map((bytes) => bytes.join("."));
const ipv6 = fc.oneof(
  fc.ipV6(),
  fc.constantFrom("::", "::1", "2001:db8::", "2001:DB8:0:0:1:0:0:1", "::ffff:192.0.2.1"),
);

/** Quoted text, unquoted text, escapes, octets that are not text, long text. */
const txt = fc.oneof(
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 300 })
    .filter((text) => !text.includes('"')),
  printable.filter((text) => text !== "" && !text.includes('"')),
  fc
    .array(octets(0, 300), { minLength: 1, maxLength: 4 })
    .map((strings) =>
      strings
        .map(
          (bytes) => `"${[...bytes].map((byte) => `\\${String(byte).padStart(3, "0")}`).join("")}"`,
        )
        .join(" "),
    ),
  fc.constantFrom(
    '""',
    '"a" "b"',
    '"say \\"hi\\" \\\\ \\; ok"',
    "v=spf1 include:_spf.example.net ~all",
  ),
);

const metres = fc
  .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }))
  .map(([digit, power]) => (digit * 10 ** power) / 100);
const angle = (max: number) =>
  fc.record({
    degrees: fc.integer({ min: 0, max }),
    minutes: fc.integer({ min: 0, max: 59 }),
    seconds: fc.integer({ min: 0, max: 59_999 }).map((thousandths) => thousandths / 1000),
  });

const serviceParameters = fc
  .record(
    {
      alpn: fc
        .array(fc.constantFrom("h2", "h3", "http/1.1", "a\\\\,b"), { minLength: 1, maxLength: 3 })
        .map((ids) => `alpn="${ids.join(",")}"`),
      port: uint16.map((port) => `port=${port}`),
      ipv4hint: fc
        .array(ipv4, { minLength: 1, maxLength: 3 })
        .map((list) => `ipv4hint=${list.join(",")}`),
      ipv6hint: fc
        .array(ipv6, { minLength: 1, maxLength: 3 })
        .map((list) => `ipv6hint="${list.join(",")}"`),
      ech: base64.map((text) => `ech=${text}`),
      dohpath: fc.constant("dohpath=/dns-query{?dns}"),
      ohttp: fc.constant("ohttp"),
      other: octets(0, 20).map(
        (bytes) =>
          `key667="${[...bytes].map((byte) => `\\${String(byte).padStart(3, "0")}`).join("")}"`,
      ),
    },
    { requiredKeys: [] },
  )
  .map((parameters) => Object.values(parameters))
  .chain((words) => fc.shuffledSubarray(words, { minLength: words.length }))
  .map((words) => words.join(" "));

/** Some parameters require others, so the combinations are listed by hand. */
const serviceValue = fc.oneof(
  serviceParameters,
  fc.constantFrom("", 'mandatory="alpn,port" alpn=h2 port=8443', "alpn=h2 no-default-alpn"),
);

const serviceBinding = fc.oneof(
  fc.record({
    priority: fc.integer({ min: 1, max: 65_535 }),
    target: rootOrHostname,
    value: serviceValue,
  }),
  fc.record({ priority: fc.constant(0), target: hostname }),
);

const association = fc
  .constantFrom([0, 1, 80] as const, [1, 32, 32] as const, [2, 64, 64] as const)
  .chain(([matching_type, min, max]) =>
    fc.record({
      usage: fc.integer({ min: 0, max: 3 }),
      selector: fc.integer({ min: 0, max: 1 }),
      matching_type: fc.constant(matching_type),
      certificate: hex(min, max),
    }),
  );

const proxied = fc.boolean();

/** The valid rdata of each type. */
export const rdataOf: Readonly<Record<string, fc.Arbitrary<Request>>> = {
  A: fc.record({ content: ipv4, proxied }),
  AAAA: fc.record({ content: ipv6, proxied }),
  CNAME: fc.record({ content: hostname, proxied: fc.constant(false) }),
  MX: fc.record({ content: rootOrHostname, priority: uint16 }),
  NS: fc.record({ content: hostname }),
  PTR: fc.record({ content: hostname }),
  TXT: fc.record({ content: txt }),
  OPENPGPKEY: fc.record({ content: base64 }),
  CAA: fc.record({
    data: fc.oneof(
      fc.record({
        flags: fc.constantFrom(0, 128),
        tag: fc.constantFrom("issue", "issuewild"),
        value: hostname,
      }),
      fc.record({
        flags: uint8,
        tag: fc.constant("issue"),
        value: fc.constantFrom(";", "ca.example; account=230123"),
      }),
      fc.record({
        flags: uint8,
        tag: fc.constant("iodef"),
        value: fc.constantFrom("mailto:a@b.example", "https://b.example/x"),
      }),
      fc.record({ flags: uint8, tag: fc.constant("other1"), value: printable }),
    ),
  }),
  CERT: fc.record({
    data: fc.record({ type: uint16, key_tag: uint16, algorithm: uint8, certificate: base64 }),
  }),
  DNSKEY: fc.record({
    data: fc.record({
      flags: uint16,
      protocol: fc.constant(3),
      algorithm: uint8,
      public_key: base64,
    }),
  }),
  DS: fc.record({
    data: fc.oneof(
      fc.record({
        key_tag: uint16,
        algorithm: uint8,
        digest_type: fc.constant(2),
        digest: hex(32),
      }),
      fc.record({
        key_tag: uint16,
        algorithm: uint8,
        digest_type: fc.constant(200),
        digest: hex(1, 50),
      }),
    ),
  }),
  HTTPS: fc.record({ data: serviceBinding }),
  SVCB: fc.record({ data: serviceBinding }),
  LOC: fc
    .tuple(
      angle(89),
      fc.constantFrom("N", "S"),
      angle(179),
      fc.constantFrom("E", "W"),
      fc.integer({ min: -10_000_000, max: 4_284_967_295 }),
      fc.tuple(metres, metres, metres),
    )
    .map(([lat, lat_direction, long, long_direction, centimetres, [size, horz, vert]]) => ({
      data: {
        lat_degrees: lat.degrees,
        lat_minutes: lat.minutes,
        lat_seconds: lat.seconds,
        // Zero degrees has one direction only.
        lat_direction: lat.degrees + lat.minutes + lat.seconds === 0 ? "N" : lat_direction,
        long_degrees: long.degrees,
        long_minutes: long.minutes,
        long_seconds: long.seconds,
        long_direction: long.degrees + long.minutes + long.seconds === 0 ? "E" : long_direction,
        altitude: centimetres / 100,
        size,
        precision_horz: horz,
        precision_vert: vert,
      },
    })),
  NAPTR: fc.record({
    data: fc.oneof(
      fc.record({
        order: uint16,
        preference: uint16,
        flags: fc.constantFrom("", "S", "u"),
        service: fc.constantFrom("", "SIP+D2U", "E2U+sip"),
        regex: fc.oneof(fc.constant("!^.*$!sip:info@example.com!"), printable),
        replacement: fc.constant("."),
      }),
      fc.record({
        order: uint16,
        preference: uint16,
        flags: fc.constant("S"),
        service: fc.constant("SIP+D2T"),
        replacement: rootOrHostname,
      }),
    ),
  }),
  SMIMEA: fc.record({ data: association }),
  TLSA: fc.record({ data: association }),
  SRV: fc.record({
    data: fc.record({ priority: uint16, weight: uint16, port: uint16, target: rootOrHostname }),
  }),
  SSHFP: fc.record({
    data: fc.oneof(
      fc.record({ algorithm: uint8, type: fc.constant(1), fingerprint: hex(20) }),
      fc.record({ algorithm: uint8, type: fc.constant(2), fingerprint: hex(32) }),
    ),
  }),
  URI: fc.record({
    priority: uint16,
    data: fc.record({
      weight: uint16,
      target: fc.constantFrom(
        "https://example.com/a?b=c&d=%22",
        "sip:a@b",
        'ftp://x/"\\',
        "urn:x;y",
      ),
    }),
  }),
};

const tag = fc
  .tuple(
    fc.oneof(
      fc.string({ unit: fc.constantFrom(...letters, "-", "_", "7"), minLength: 1, maxLength: 10 }),
      fc.constantFrom("__proto__", "constructor", "toString"),
    ),
    fc.constantFrom("", "x", "a b", "v:w", "ü", '#;"'),
  )
  .map(([name, value]) => `${name}:${value}`)
  .filter((text) => !text.startsWith("cf-"));

const comment = fc.oneof(
  fc.constant(null),
  fc.constantFrom(
    "plain",
    "semi; colon",
    'quote " mark',
    "cf_tags=a:b",
    "x cf_tags=",
    "(open",
    "ünïcode",
  ),
  printable.map((text) => text.slice(0, 100)),
);

/** A whole record without its name: the caller knows which names are free. */
export function recordArbitrary(type: string): fc.Arbitrary<Request> {
  const settings =
    type === "CNAME"
      ? fc.constantFrom({}, { flatten_cname: true })
      : type === "A" || type === "AAAA"
        ? fc.constantFrom({}, { ipv4_only: true }, { ipv6_only: true })
        : fc.constant({});
  const rest = fc.record({
    ttl: fc.constantFrom(1, 60, 300, 86_400),
    comment,
    tags: fc.uniqueArray(tag, { maxLength: 4 }),
    settings,
  });
  return fc
    .tuple(rdataOf[type]!, rest)
    .map((parts) => Object.assign({ type }, ...parts) as Request);
}

export const anyRecord = fc.constantFrom(...Object.keys(rdataOf)).chain(recordArbitrary);
