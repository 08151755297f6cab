import { encodeHex } from "../../src/base/hex.ts";
import {
  digestedOctets,
  dnskeyData,
  keySigningFlags,
  keyTagOf,
  zoneKeyFlags,
  type SigningKey,
  type ZoneKeys,
} from "../../src/dns/dnssec/zone-signing.ts";
import { encodeBase64 } from "../../src/dns/wire/bytes.ts";
import { encodeName } from "../../src/dns/wire/name.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256" };

export async function makeZoneKeys(zoneName: string): Promise<ZoneKeys> {
  const [zoneSigningKey, keySigningKey] = [
    await makeKey(zoneKeyFlags),
    await makeKey(keySigningFlags),
  ];
  const digested = digestedOctets(encodeName(zoneName), dnskeyData(keySigningKey));
  const hash = await crypto.subtle.digest("SHA-256", new Uint8Array(digested));
  return { keySigningKey, zoneSigningKey, digest: encodeHex(new Uint8Array(hash)) };
}

async function makeKey(flags: SigningKey["flags"]): Promise<SigningKey> {
  const pair = (await crypto.subtle.generateKey(algorithm, true, [
    "sign",
    "verify",
  ])) as CryptoKeyPair;
  const point = (await crypto.subtle.exportKey("raw", pair.publicKey)) as ArrayBuffer;
  const { kty, crv, x, y, d } = (await crypto.subtle.exportKey(
    "jwk",
    pair.privateKey,
  )) as SigningKey["privateKey"];
  // RFC 6605 section 4: the point without the octet that says "uncompressed".
  const publicKey = encodeBase64(new Uint8Array(point).subarray(1));
  const tag = keyTagOf(dnskeyData({ flags, publicKey }));
  return { flags, keyTag: tag, publicKey, privateKey: { kty, crv, x, y, d } };
}
