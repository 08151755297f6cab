import { describe, expect, it } from "vitest";
import { SignatureCache } from "./signature-cache.ts";
import { endedWindow, periodSeconds, signatureWindow } from "./signature-window.ts";
import { SigningBudget } from "./signing-budget.ts";
import type { SigningKey } from "./zone-signing.ts";

const key = { publicKey: "one" } as SigningKey;
const request = (text: string) => ({ key, octets: new TextEncoder().encode(text) });
const signature = (octet: number) => Uint8Array.of(octet);

const takeAll = (budget: SigningBudget, isProven: boolean, nowSeconds: number) => {
  let count = 0;
  while (budget.take(nowSeconds, { isProven })) count += 1;
  return count;
};

describe("SigningBudget", () => {
  it("leaves the last quarter to proven addresses", () => {
    const budget = new SigningBudget({ perSecond: 100 });
    expect(takeAll(budget, false, 1)).toBe(75);
    expect(takeAll(budget, true, 1)).toBe(25);
  });

  it("refills with time, and saves up for one second", () => {
    const budget = new SigningBudget({ perSecond: 100 });
    takeAll(budget, true, 1);
    expect(takeAll(budget, true, 1.5)).toBe(50);
    expect(takeAll(budget, true, 100)).toBe(100);
    expect(takeAll(budget, true, 99)).toBe(0);
  });
});

describe("SignatureCache", () => {
  it("finds a signature by octets and key", () => {
    const cache = new SignatureCache({ entriesMax: 10 });
    cache.put(request("a"), signature(1));
    expect(cache.get(request("a"))).toEqual(signature(1));
    expect(cache.get(request("b"))).toBeUndefined();
    const other = { publicKey: "two" } as SigningKey;
    expect(cache.get({ ...request("a"), key: other })).toBeUndefined();
  });

  it("keeps entries in use and never more than its limit", () => {
    const cache = new SignatureCache({ entriesMax: 10 });
    cache.put(request("used"), signature(1));
    for (let count = 0; count < 100; count++) {
      cache.put(request(`flood ${count}`), signature(2));
      expect(cache.get(request("used"))).toEqual(signature(1));
      expect(cache.size).toBeLessThanOrEqual(10);
    }
    expect(cache.get(request("flood 0"))).toBeUndefined();
  });

  it("takes octets of any length", () => {
    const cache = new SignatureCache({ entriesMax: 10 });
    const long = { key, octets: new Uint8Array(70_000) };
    cache.put(long, signature(3));
    expect(cache.get(long)).toEqual(signature(3));
  });
});

describe("signatureWindow()", () => {
  it("is two days long, and 21 hours from both ends at any time", () => {
    for (let now = 1_800_000_000; now < 1_800_000_000 + periodSeconds * 2; now += 977) {
      const { inceptionSeconds, expirationSeconds } = signatureWindow(now);
      expect(expirationSeconds - inceptionSeconds).toBe(2 * 86_400);
      expect(now - inceptionSeconds).toBeGreaterThanOrEqual(21 * 3600);
      expect(expirationSeconds - now).toBeGreaterThan(21 * 3600);
      expect(endedWindow(now).expirationSeconds).toBeLessThan(now - 3600);
    }
  });
});
