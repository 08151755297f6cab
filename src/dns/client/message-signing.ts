/** TSIG with Node's HMAC and the system's clock. */
import { createHmac } from "node:crypto";
import { signMessage, type Hmac, type TsigKey } from "../wire/tsig.ts";

export const hmac: Hmac = (algorithm, secret, data) =>
  new Uint8Array(createHmac(algorithm.replace("hmac-", ""), secret).update(data).digest());

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** @param priorMac the MAC of the query, for a response */
export function signNow(
  bytes: Uint8Array,
  key: TsigKey,
  priorMac?: Uint8Array,
): { bytes: Uint8Array; mac: Uint8Array } {
  const prior = priorMac === undefined ? {} : { priorMac };
  return signMessage(bytes, { key, hmac, nowSeconds: nowSeconds(), ...prior });
}
