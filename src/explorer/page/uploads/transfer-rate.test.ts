import { describe, expect, it } from "vitest";
import { secondsLeft, TransferRate } from "./transfer-rate.ts";

describe("TransferRate", () => {
  it("is unknown until half a second has been measured", () => {
    const rate = new TransferRate();
    expect(rate.bytesPerSecond(0)).toBeNull();
    rate.add(0, 0);
    rate.add(400, 100);
    expect(rate.bytesPerSecond(400)).toBeNull();
    rate.add(1000, 500);
    expect(rate.bytesPerSecond(1000)).toBe(500);
  });

  it("counts the last five seconds only", () => {
    const rate = new TransferRate();
    for (let second = 0; second <= 10; second++) rate.add(second * 1000, second * 100);
    for (let second = 11; second <= 20; second++) rate.add(second * 1000, 1000 + second * 900);
    expect(rate.bytesPerSecond(20_000)).toBe(900);
  });

  it("falls while nothing is sent", () => {
    const rate = new TransferRate();
    rate.add(0, 0);
    rate.add(1000, 1000);
    expect(rate.bytesPerSecond(10_000)).toBe(100);
  });

  it("begins anew when bytes have to be sent again, and after a pause", () => {
    const rate = new TransferRate();
    rate.add(0, 0);
    rate.add(1000, 1000);
    rate.add(2000, 500);
    expect(rate.bytesPerSecond(2000)).toBeNull();
    rate.add(3000, 700);
    expect(rate.bytesPerSecond(3000)).toBe(200);
    rate.reset();
    expect(rate.bytesPerSecond(9000)).toBeNull();
  });
});

describe("secondsLeft()", () => {
  it("is unknown without a rate", () => {
    expect(secondsLeft(100, null)).toBeNull();
    expect(secondsLeft(100, 0)).toBeNull();
    expect(secondsLeft(100, 50)).toBe(2);
  });
});
