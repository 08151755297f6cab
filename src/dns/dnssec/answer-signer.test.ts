import { expect, it } from "vitest";
import { encodeName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { AnswerSigner, periodSeconds } from "./answer-signer.ts";
import { decodeSignature } from "./signature.ts";
import type { CurrentSigning, SigningKey } from "./zone-signing.ts";

const apex = encodeName("example.org");
const txt = (length: number): RecordSet => {
  return { owner: apex, type: typeCodes.NS, ttlSeconds: 300, data: [new Uint8Array(length)] };
};
const zoneSigningKey = { publicKey: "one", keyTag: 1 } as SigningKey;
const signing = { zoneSigningKeys: [zoneSigningKey], faults: [] } as unknown as CurrentSigning;

function sign(signer: AnswerSigner, set: RecordSet, nowSeconds: number, used = signing) {
  const times = { nowSeconds, originalTtlSeconds: set.ttlSeconds };
  return signer.sign(set, { apex, signing: used }, times) as RecordSet;
}

it("sign() makes the signature of equal octets by the same key once in a period", () => {
  let made = 0;
  const signer = new AnswerSigner({ sign: () => Uint8Array.of(++made) });
  const other = { ...signing, zoneSigningKeys: [{ ...zoneSigningKey, publicKey: "two" }] };
  for (let count = 0; count < 2; count++) {
    sign(signer, txt(1), periodSeconds);
    sign(signer, txt(2), periodSeconds);
    sign(signer, txt(70_000), periodSeconds);
    sign(signer, txt(1), periodSeconds, other);
    sign(signer, txt(1), 2 * periodSeconds - 1);
    sign(signer, txt(1), 2 * periodSeconds);
    expect(made).toBe(5);
  }
});

it("sign() has a window of two days, which ends 25 hours or more after any answer", () => {
  const signer = new AnswerSigner({ sign: () => new Uint8Array(64) });
  const faults = [{ kind: "expired_signature", name: null } as const];
  for (let now = 1_800_000_000; now < 1_800_000_000 + periodSeconds * 2; now += 977) {
    const { fields } = decodeSignature(sign(signer, txt(1), now).data[0]!);
    expect(fields.expirationSeconds - fields.inceptionSeconds).toBe(2 * 86_400);
    expect(now - fields.inceptionSeconds).toBeGreaterThanOrEqual(17 * 3600);
    expect(fields.expirationSeconds - now).toBeGreaterThan(25 * 3600);
    const ended = decodeSignature(sign(signer, txt(1), now, { ...signing, faults }).data[0]!);
    expect(ended.fields.expirationSeconds).toBeLessThan(now - 3600);
  }
});
