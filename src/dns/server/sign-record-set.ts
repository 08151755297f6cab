/** Makes signatures with Node's crypto, which is synchronous and takes about 76 µs each. */
import { createPrivateKey, sign, type KeyObject } from "node:crypto";
import type { SignatureRequest } from "../dnssec/answer-signer.ts";
import type { SigningKey } from "../dnssec/zone-signing.ts";

/** A key is imported once for each publication of its zone's head. */
const imported = new WeakMap<SigningKey, KeyObject>();

function importKey(signingKey: SigningKey): KeyObject {
  let key = imported.get(signingKey);
  if (key === undefined) {
    key = createPrivateKey({ key: signingKey.privateKey, format: "jwk" });
    imported.set(signingKey, key);
  }
  return key;
}

export function signRecordSet({ key, octets }: SignatureRequest): Uint8Array {
  return sign("sha256", octets, { key: importKey(key), dsaEncoding: "ieee-p1363" });
}
