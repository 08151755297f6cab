/**
 * All record types. A new type is an entry of this table: its name, its number, and the fields of
 * its data in wire order. Fields have their kinds in `fields.ts`; everything else follows from them.
 */
import {
  base64,
  checkDigestLength,
  hexadecimal,
  hostname,
  hostnameContent,
  integer,
  ipv4,
  ipv6,
  normaliseHostname,
  printableText,
  priority,
  quotedStrings,
} from "./fields.ts";
import { loc } from "./loc.ts";
import { checkTextPolicy } from "./mail-policy.ts";
import { problem } from "./problem.ts";
import { defineRecordType, type RecordType } from "./record-type.ts";
import { serviceParameters } from "./service-parameters.ts";

/** Words that a zone file may use for the number (RFC 4398 section 2.1). */
const certificateTypes = {
  PKIX: 1,
  SPKI: 2,
  PGP: 3,
  IPKIX: 4,
  ISPKI: 5,
  IPGP: 6,
  ACPKIX: 7,
  IACPKIX: 8,
  URI: 253,
  OID: 254,
};

/** The IANA registry "DNS Security Algorithm Numbers", and the words of BIND that differ. */
const algorithm = integer(8, {
  mnemonics: {
    RSAMD5: 1,
    DH: 2,
    DSA: 3,
    RSASHA1: 5,
    "DSA-NSEC3-SHA1": 6,
    NSEC3DSA: 6,
    "RSASHA1-NSEC3-SHA1": 7,
    NSEC3RSASHA1: 7,
    RSASHA256: 8,
    RSASHA512: 10,
    "ECC-GOST": 12,
    ECCGOST: 12,
    ECDSAP256SHA256: 13,
    ECDSAP384SHA384: 14,
    ED25519: 15,
    ED448: 16,
    INDIRECT: 252,
    PRIVATEDNS: 253,
    PRIVATEOID: 254,
  },
});

/** The IANA registry "DS RR Type Digest Algorithms". */
const digestType = integer(8, {
  mnemonics: { "SHA-1": 1, SHA1: 1, "SHA-256": 2, SHA256: 2, GOST: 3, "SHA-384": 4, SHA384: 4 },
});

/** Octets of a digest, by the number of its kind: DS, SSHFP (RFC 6594), TLSA (RFC 6698). */
const dsDigestBytes: Readonly<Record<number, number>> = { 1: 20, 2: 32, 3: 32, 4: 48 };
const fingerprintBytes: Readonly<Record<number, number>> = { 1: 20, 2: 32 };
const associationBytes: Readonly<Record<number, number>> = { 1: 32, 2: 64 };

const issuerTags = new Set(["issue", "issuewild", "issuemail", "issuevmc"]);

/** TLSA and SMIMEA have the same data (RFC 8162 section 2). */
function certificateAssociation(type: string, code: number): RecordType {
  return defineRecordType(type, code, {
    example: `3 1 1 ${"ab".repeat(32)}`,
    fields: {
      usage: integer(8),
      selector: integer(8),
      matching_type: integer(8),
      certificate: hexadecimal,
    },
    check({ matching_type, certificate }, report) {
      checkDigestLength("certificate", certificate, associationBytes[matching_type], report);
    },
  });
}

/** SVCB and HTTPS have the same data (RFC 9460 section 9). */
function serviceBinding(type: string, code: number): RecordType {
  return defineRecordType(type, code, {
    example: '1 . alpn="h3,h2"',
    fields: {
      priority: integer(16),
      target: hostname({ rootAllowed: true, finalDot: true }),
      value: serviceParameters,
    },
    check(rdata, report) {
      // Priority 0 is AliasMode, which carries no parameters (RFC 9460 section 2.4.2).
      if (rdata.priority === 0 && rdata.value !== "") {
        report(problem.serviceParameter("priority 0 takes no parameters"));
      }
    },
  });
}

const types: readonly RecordType[] = [
  // RFC 1035 section 3.4.1.
  defineRecordType("A", 1, { example: "192.0.2.1", proxiable: true, fields: { content: ipv4 } }),
  // RFC 3596; the content has the form of RFC 5952.
  defineRecordType("AAAA", 28, {
    example: "2001:db8::1",
    proxiable: true,
    fields: { content: ipv6 },
  }),
  // RFC 8659 section 4.
  defineRecordType("CAA", 257, {
    example: '0 issue "ca.example.net"',
    fields: {
      flags: integer(8),
      tag: printableText(/^[a-z0-9]{1,15}$/, "1 to 15 letters and digits", {
        quoted: false,
        lowerCase: true,
      }),
      value: printableText(/^/, "printable ASCII", { lengthOctet: false }),
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
  }),
  // RFC 4398.
  defineRecordType("CERT", 37, {
    example: "1 12345 8 AQIDBAU=",
    fields: {
      type: integer(16, { mnemonics: certificateTypes }),
      key_tag: integer(16),
      algorithm,
      certificate: base64,
    },
  }),
  // RFC 1035 section 3.3.1.
  defineRecordType("CNAME", 5, {
    example: "www.example.com",
    proxiable: true,
    fields: { content: hostnameContent },
  }),
  // RFC 4034 section 2.
  defineRecordType("DNSKEY", 48, {
    example: "256 3 13 AQIDBAU=",
    fields: { flags: integer(16), protocol: integer(8), algorithm, public_key: base64 },
    check({ protocol }, report) {
      // RFC 4034 section 2.1.2: any other value makes the key unusable.
      if (protocol !== 3) report(problem.notOneOf("protocol", [3]));
    },
  }),
  // RFC 4034 section 5.
  defineRecordType("DS", 43, {
    example: `60485 13 2 ${"ab".repeat(32)}`,
    fields: { key_tag: integer(16), algorithm, digest_type: digestType, digest: hexadecimal },
    check({ digest_type, digest }, report) {
      checkDigestLength("digest", digest, dsDigestBytes[digest_type], report);
    },
  }),
  serviceBinding("HTTPS", 65),
  loc,
  // RFC 1035 section 3.3.9; the root means that the domain accepts no mail (RFC 7505).
  defineRecordType("MX", 15, {
    example: "mail.example.com",
    topLevelPriority: true,
    fields: { priority, content: hostname({ rootAllowed: true, refuse: problem.contentInvalid }) },
  }),
  // RFC 3403 section 4.1.
  defineRecordType("NAPTR", 35, {
    example: '100 10 "s" "SIP+D2U" "" _sip._udp.example.com',
    fields: {
      order: integer(16),
      preference: integer(16),
      flags: printableText(/^[a-z0-9]*$/i, "letters and digits"),
      service: printableText(/^[a-z0-9+:._-]*$/i, "at most 255 letters, digits and +:._-"),
      regex: printableText(/^/, "at most 255 characters of printable ASCII", { fallback: "" }),
      replacement: hostname({ rootAllowed: true, finalDot: true }),
    },
    check({ regex, replacement }, report) {
      if (regex !== "" && replacement !== ".") report(problem.exclusive("regex", "replacement"));
    },
  }),
  // RFC 1035 section 3.3.11.
  defineRecordType("NS", 2, { example: "ns1.example.com", fields: { content: hostnameContent } }),
  // RFC 7929 section 2.
  defineRecordType("OPENPGPKEY", 61, { example: "AQIDBAU=", fields: { content: base64 } }),
  // RFC 1035 section 3.3.12.
  defineRecordType("PTR", 12, { example: "www.example.com", fields: { content: hostnameContent } }),
  certificateAssociation("SMIMEA", 53),
  // RFC 1035 section 3.3.13. The zone has one SOA record; `dns_settings` changes its fields.
  defineRecordType("SOA", 6, {
    managedBy: "dns_settings",
    fields: {
      mname: hostname(),
      rname: hostname(),
      serial: integer(32),
      refresh: integer(32),
      retry: integer(32),
      expire: integer(32),
      minimum: integer(32),
    },
  }),
  // RFC 2782; `content` holds weight, port and target, and `priority` is a field of the record.
  defineRecordType("SRV", 33, {
    example: "5 5060 sip.example.com",
    topLevelPriority: true,
    fields: {
      priority,
      weight: integer(16),
      port: integer(16),
      target: hostname({ rootAllowed: true }),
    },
  }),
  // RFC 4255 section 3.
  defineRecordType("SSHFP", 44, {
    example: `4 2 ${"ab".repeat(32)}`,
    fields: { algorithm: integer(8), type: integer(8), fingerprint: hexadecimal },
    check({ type, fingerprint }, report) {
      checkDigestLength("fingerprint", fingerprint, fingerprintBytes[type], report);
    },
  }),
  serviceBinding("SVCB", 64),
  certificateAssociation("TLSA", 52),
  // RFC 1035 section 3.3.14.
  defineRecordType("TXT", 16, {
    example: '"v=spf1 -all"',
    fields: { content: quotedStrings },
    check({ content }, report, owner) {
      if (owner !== "") checkTextPolicy(owner, content, report);
    },
  }),
  // RFC 7553; the target has no length octet and extends to the end of the record.
  defineRecordType("URI", 256, {
    example: '1 "https://www.example.com/"',
    topLevelPriority: true,
    fields: {
      priority,
      weight: integer(16),
      target: printableText(/^[a-z][a-z0-9+.-]*:\S+$/i, "a URI with a scheme", {
        lengthOctet: false,
      }),
    },
  }),
];

export const recordTypes: ReadonlyMap<string, RecordType> = new Map(
  types.map((type) => [type.type, type]),
);

export const recordTypesByCode: ReadonlyMap<number, RecordType> = new Map(
  types.map((type) => [type.code, type]),
);

/** For types of stored records: an unknown type is a broken invariant. */
export function recordType(name: string): RecordType {
  const type = recordTypes.get(name);
  if (type === undefined) throw new Error(`Record type ${name} is not registered`);
  return type;
}
