import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { decodeHex, encodeHex } from "../../base/hex.ts";
import { blankMessage, encodeMessage } from "./message.ts";
import { typeCodes } from "./numbers.ts";
import {
  refuseSignature,
  signMessage,
  tsigBytes,
  verifyMessage,
  isTsigAlgorithm,
  type Hmac,
  type TsigKey,
} from "./tsig.ts";
import { WireError } from "./bytes.ts";

const hmac: Hmac = (algorithm, secret, data) =>
  new Uint8Array(createHmac(algorithm.slice("hmac-".length), secret).update(data).digest());

const key: TsigKey = {
  name: "transfer.example.org",
  algorithm: "hmac-sha256",
  secret: Uint8Array.from({ length: 32 }, (_, index) => index),
};
const findKey = (name: string) => (name === key.name ? key : undefined);
const nowSeconds = 1_700_000_000;

const query = {
  ...blankMessage,
  id: 0x1234,
  questions: [{ name: "example.org", type: typeCodes.AXFR, class: 1 }],
};
const plain = encodeMessage(query);
const options = { findKey, hmac, nowSeconds };

const cut = (length: number) => {
  const { mac } = signMessage(plain, { key, hmac, nowSeconds });
  const tsig = {
    keyName: key.name,
    algorithm: key.algorithm,
    timeSignedSeconds: nowSeconds,
    fudgeSeconds: 300,
    mac: mac.slice(0, length),
    originalId: query.id,
    error: 0,
    other: new Uint8Array(),
  };
  return encodeMessage({ ...query, tsig });
};

/** A malformed message counts as a bad signature. */
function verdictOn(bytes: Uint8Array): string {
  try {
    return verifyMessage(bytes, options).kind;
  } catch (error) {
    if (error instanceof WireError) return "bad";
    throw error;
  }
}

describe("signMessage() and verifyMessage()", () => {
  test.each(["hmac-sha1", "hmac-sha256", "hmac-sha384", "hmac-sha512"] as const)(
    "%s",
    (algorithm) => {
      const own = { ...key, algorithm };
      const { bytes, mac } = signMessage(plain, { key: own, hmac, nowSeconds });
      expect(bytes.length).toBe(plain.length + tsigBytes(own));
      const verdict = verifyMessage(bytes, { ...options, findKey: () => own });
      expect(verdict).toMatchObject({ kind: "good", key: own, mac });
    },
  );

  test("sign the octets of RFC 8945 section 4.3.3", () => {
    const { mac } = signMessage(plain, { key, hmac, nowSeconds });
    const wireName = "087472616e73666572076578616d706c65036f726700";
    const algorithm = "0b686d61632d73686132353600";
    // Class and TTL; then time, fudge, error and the length of no other data.
    const signed = `${encodeHex(plain)}${wireName}00ff00000000${algorithm}00006553f100012c00000000`;
    expect(mac).toEqual(hmac("hmac-sha256", key.secret, decodeHex(signed)!));
  });

  test("sign the MAC of the request in a response", () => {
    const request = signMessage(plain, { key, hmac, nowSeconds });
    const response = signMessage(plain, { key, hmac, nowSeconds, priorMac: request.mac });
    const good = { ...options, priorMac: request.mac };
    expect(verifyMessage(response.bytes, good).kind).toBe("good");
    expect(verifyMessage(response.bytes, options)).toMatchObject({ kind: "bad", error: 16 });
  });

  test("sign the timers in later messages of a stream, and the unsigned messages before them", () => {
    const first = signMessage(plain, { key, hmac, nowSeconds });
    const chained = { priorMac: first.mac, timersOnly: true };
    const next = signMessage(plain, { key, hmac, nowSeconds, ...chained });
    expect(verifyMessage(next.bytes, { ...options, ...chained }).kind).toBe("good");
    const between = { ...options, ...chained, before: [plain] };
    expect(verifyMessage(next.bytes, between)).toMatchObject({ kind: "bad" });
  });

  test("allow a changed identifier and no other change", () => {
    const { bytes } = signMessage(plain, { key, hmac, nowSeconds });
    const forwarded = bytes.slice();
    forwarded[0] = 0x99;
    expect(verifyMessage(forwarded, options).kind).toBe("good");
    for (let at = 2; at < plain.length; at++) {
      const changed = bytes.slice();
      changed[at]! ^= 1;
      expect(verdictOn(changed)).toBe("bad");
    }
  });

  test("report the error: key, algorithm, secret, time", () => {
    const { bytes } = signMessage(plain, { key, hmac, nowSeconds });
    const verify = (changes: object) => verifyMessage(bytes, { ...options, ...changes });
    const unknown = verify({ findKey: () => undefined });
    expect(unknown).toMatchObject({ kind: "bad", error: 17, key: null });
    const other = { ...key, algorithm: "hmac-sha512" as const };
    expect(verify({ findKey: () => other })).toMatchObject({ kind: "bad", error: 17 });
    const wrong = { ...key, secret: new Uint8Array(32) };
    expect(verify({ findKey: () => wrong })).toMatchObject({ kind: "bad", error: 16, key: null });
    expect(verify({ nowSeconds: nowSeconds + 300 }).kind).toBe("good");
    expect(verify({ nowSeconds: nowSeconds + 301 })).toMatchObject({ kind: "bad", error: 18, key });
    expect(verifyMessage(plain, options).kind).toBe("unsigned");
  });

  test("refuse a truncated MAC", () => {
    expect(verifyMessage(cut(32), options).kind).toBe("good");
    expect(verifyMessage(cut(16), options)).toMatchObject({ kind: "bad", error: 22 });
    expect(() => verifyMessage(cut(15), options)).toThrow(WireError);
  });

  test("refuse without a MAC", () => {
    const { bytes } = signMessage(plain, { key, hmac, nowSeconds });
    const { tsig } = verifyMessage(bytes, options).message;
    const unknown = { ...options, findKey: () => undefined };
    const refused = verifyMessage(refuseSignature(plain, tsig!, 17), unknown);
    expect(refused.message.tsig).toMatchObject({
      error: 17,
      mac: new Uint8Array(),
      keyName: key.name,
    });
  });
});

test("isTsigAlgorithm() is true for the supported algorithms", () => {
  const names = ["hmac-sha256", "hmac-md5", "toString"];
  expect(names.filter(isTsigAlgorithm)).toEqual(["hmac-sha256"]);
});
