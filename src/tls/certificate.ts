/**
 * X.509 certificates (RFC 5280) of a local authority and of its servers. Node makes keys and
 * signatures, and has no function for certificates.
 *
 * Strict clients (Python 3.13, Go, Apple) decide what a certificate contains: the identifiers of
 * both keys, the use of the keys, and the names of the server in the extension for names.
 *
 * The authority is limited to loopback and to its names (section 4.2.1.10), so that a stolen key
 * of an authority that a user trusts makes no certificate for other names.
 */
import { createHash, sign, type KeyObject } from "node:crypto";

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

interface CertificateOptions {
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** 1 to 20 octets that no other certificate of the authority has; the first is below 128. */
  readonly serial: Uint8Array;
  /** The common name of the authority. */
  readonly authority: string;
  /** Of the authority, of curve P-256. */
  readonly authorityKeys: KeyPair;
}

const loopbackIpv4 = Uint8Array.of(127, 0, 0, 1);
const loopbackIpv6 = Uint8Array.from({ length: 16 }, (_, index) => (index === 15 ? 1 : 0));

/** Section 4.2.1.6: the tags of names and addresses. */
const dnsName = 2;
const ipAddress = 7;

/**
 * @param options.names besides loopback; `null` for an authority without a limit
 * @returns the certificate as PEM
 */
export function certifyAuthority(
  options: CertificateOptions & { readonly names: readonly string[] | null },
): string {
  const { authority, authorityKeys, names } = options;
  const keyId = keyIdentifier(authorityKeys.publicKey);
  return certify(options, {
    subject: authority,
    publicKey: authorityKeys.publicKey,
    extensions: [
      // An authority that certifies servers, and no other authority.
      extension("2.5.29.19", sequence(boolean(true), integer(Uint8Array.of(0))), "critical"),
      // Signs certificates: bit 5.
      extension("2.5.29.15", bitString(Uint8Array.of(0b0000_0100), 2), "critical"),
      extension("2.5.29.14", octetString(keyId)),
      ...(names === null ? [] : [nameConstraints(names)]),
    ],
  });
}

/** Section 4.2.1.10. */
function nameConstraints(names: readonly string[]): Uint8Array {
  return extension(
    "2.5.29.30",
    sequence(
      tagged(
        0,
        // A name stands for the names below it, too.
        ...["localhost", ...names].map((name) => sequence(generalName(name))),
        // An address and its mask: 127.0.0.0/8 and ::1.
        sequence(implicit(ipAddress, Uint8Array.of(127, 0, 0, 0, 255, 0, 0, 0))),
        sequence(implicit(ipAddress, Buffer.concat([loopbackIpv6, Buffer.alloc(16, 0xff)]))),
      ),
    ),
    "critical",
  );
}

const loopbackNames = ["localhost", "*.localhost"].map(generalName);
const loopbackAddresses = [loopbackIpv4, loopbackIpv6].map((each) => implicit(ipAddress, each));

export function certifyServer(
  options: CertificateOptions & {
    readonly names: readonly string[];
    readonly hasLoopback: boolean;
  },
  serverKey: KeyObject,
): string {
  const { authorityKeys, names, hasLoopback } = options;
  const own = names.map(generalName);
  const alternatives = hasLoopback ? [...loopbackNames, ...own, ...loopbackAddresses] : own;
  return certify(options, {
    subject: "localhost",
    publicKey: serverKey,
    extensions: [
      extension("2.5.29.19", sequence(), "critical"),
      // Signs the key exchange: bit 0.
      extension("2.5.29.15", bitString(Uint8Array.of(0b1000_0000), 7), "critical"),
      // Only for servers.
      extension("2.5.29.37", sequence(objectIdentifier("1.3.6.1.5.5.7.3.1"))),
      extension("2.5.29.17", sequence(...alternatives)),
      extension("2.5.29.14", octetString(keyIdentifier(serverKey))),
      extension("2.5.29.35", sequence(implicit(0, keyIdentifier(authorityKeys.publicKey)))),
    ],
  });
}

export function certify(
  { serial, authority, authorityKeys, notBefore, notAfter }: CertificateOptions,
  {
    subject,
    publicKey,
    extensions,
  }: {
    readonly subject: string;
    readonly publicKey: KeyObject;
    readonly extensions: readonly Uint8Array[];
  },
): string {
  const version3 = tagged(0, integer(Uint8Array.of(2)));
  // ECDSA with SHA-256.
  const algorithm = sequence(objectIdentifier("1.2.840.10045.4.3.2"));
  const content = sequence(
    version3,
    integer(serial),
    algorithm,
    distinguishedName(authority),
    sequence(time(notBefore), time(notAfter)),
    distinguishedName(subject),
    publicKeyInfo(publicKey),
    tagged(3, sequence(...extensions)),
  );
  const signature = sign("sha256", content, authorityKeys.privateKey);
  return toPem(sequence(content, algorithm, bitString(signature)));
}

function publicKeyInfo(key: KeyObject): Uint8Array {
  return key.export({ type: "spki", format: "der" });
}

function distinguishedName(commonName: string): Uint8Array {
  return sequence(set(sequence(objectIdentifier("2.5.4.3"), utf8String(commonName))));
}

function generalName(name: string): Uint8Array {
  return implicit(dnsName, Buffer.from(name, "ascii"));
}

export function extension(id: string, value: Uint8Array, critical?: "critical"): Uint8Array {
  const flag = critical === undefined ? [] : [boolean(true)];
  return sequence(objectIdentifier(id), ...flag, octetString(value));
}

/** RFC 7093 section 2, method 4: any hash of the key identifies it. */
export function keyIdentifier(key: KeyObject): Uint8Array {
  return createHash("sha256").update(publicKeyInfo(key)).digest().subarray(0, 20);
}

function toPem(octets: Uint8Array): string {
  const lines =
    Buffer.from(octets)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

// DER (X.690): the values that certificates consist of, as octets. Nothing here reads DER.

/** A constructed value of a class of its own: `[number]` in a specification. */
function tagged(number: number, ...content: readonly Uint8Array[]): Uint8Array {
  return encode(0xa0 | number, content);
}

/** As `tagged()`, in place of the tag of a primitive value (IMPLICIT). */
function implicit(number: number, content: Uint8Array): Uint8Array {
  return encode(0x80 | number, [content]);
}

export function sequence(...content: readonly Uint8Array[]): Uint8Array {
  return encode(0x30, content);
}

function set(...content: readonly Uint8Array[]): Uint8Array {
  return encode(0x31, content);
}

export function boolean(value: boolean): Uint8Array {
  return encode(0x01, [Uint8Array.of(value ? 0xff : 0)]);
}

/** @param octets a number of zero or more, the highest octet first */
export function integer(octets: Uint8Array): Uint8Array {
  const start = octets.findIndex((octet) => octet !== 0);
  const digits = start < 0 ? Uint8Array.of(0) : octets.subarray(start);
  // A number whose first bit is set would be negative.
  const isNegative = (digits.at(0) ?? 0) >= 0x80;
  return encode(0x02, isNegative ? [Uint8Array.of(0), digits] : [digits]);
}

export function bitString(octets: Uint8Array, unusedBits = 0): Uint8Array {
  return encode(0x03, [Uint8Array.of(unusedBits), octets]);
}

export function octetString(octets: Uint8Array): Uint8Array {
  return encode(0x04, [octets]);
}

function utf8String(text: string): Uint8Array {
  return encode(0x0c, [new TextEncoder().encode(text)]);
}

/** @param dotted such as `2.5.29.17` */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const octets = [first * 40 + second, ...rest].flatMap(base128);
  return encode(0x06, [Uint8Array.from(octets)]);
}

/**
 * RFC 5280 section 4.1.2.5: years until 2049 have two digits, later years four. Fractions of a
 * second are not allowed.
 */
export function time(date: Date): Uint8Array {
  const text = date
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "");
  const isShort = date.getUTCFullYear() < 2050;
  return encode(isShort ? 0x17 : 0x18, [new TextEncoder().encode(isShort ? text.slice(2) : text)]);
}

function base128(number: number): number[] {
  const digits = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) {
    digits.unshift(0x80 | (rest % 128));
  }
  return digits;
}

function encode(tag: number, content: readonly Uint8Array[]): Uint8Array {
  const octets = Buffer.concat(content);
  return Buffer.concat([Uint8Array.from([tag, ...lengthOctets(octets.length)]), octets]);
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return [0x80 | digits.length, ...digits];
}
