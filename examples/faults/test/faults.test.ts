/** Each kind of fault, on the careless and on the careful version. */
import { env, exports } from "cloudflare:workers";
import { calls, contents, faults, seed } from "ledge/test";
import { describe, expect, it } from "vitest";
import * as careful from "../src/careful.ts";
import * as careless from "../src/careless.ts";

const { PHOTOS } = env;

describe("a single error of the store", () => {
  it("loses a photo in the careless version", async () => {
    await faults.fail({ method: "put", nth: 1, code: 10058 });
    await expect(careless.save(PHOTOS, "a.png", "photo")).rejects.toThrow("(10058)");
    expect(await contents(PHOTOS)).toEqual({});
  });

  it("causes a second attempt in the careful version", async () => {
    await faults.fail({ method: "put", nth: 1, code: 10058 });
    await careful.save(PHOTOS, "a.png", "photo");
    expect(calls).toHavePut("a.png", { times: 2 });
    expect(calls).toHavePut("a.png", { outcome: "error", code: 10058 });
    expect(await contents(PHOTOS)).toEqual({ "a.png": "photo" });
  });
});

describe("random errors", () => {
  const keys = Array.from({ length: 20 }, (_, index) => `${index}.png`);

  it("lose photos in the careless version", async () => {
    await faults.fail({ method: "put", probability: 0.3, seed: 3 });
    await Promise.allSettled(keys.map((key) => careless.save(PHOTOS, key, key)));
    expect(Object.keys(await contents(PHOTOS)).length).toBeLessThan(keys.length);
  });

  it("lose no photo in the careful version", async () => {
    await faults.fail({ method: "put", probability: 0.3, seed: 3 });
    await Promise.all(keys.map((key) => careful.save(PHOTOS, key, key)));
    expect(Object.keys(await contents(PHOTOS))).toHaveLength(keys.length);
  });
});

describe("a single slow call", () => {
  it("delays the careless version", async () => {
    await seed(PHOTOS, { "a.png": "photo" });
    await faults.slow({ method: "get", by: "400ms", times: 1 });
    const timeout = new Promise((resolve) => setTimeout(resolve, 250, "no answer yet"));
    expect(await Promise.race([careless.load(PHOTOS, "a.png"), timeout])).toBe("no answer yet");
  });

  it("times out and is retried in the careful version", async () => {
    await seed(PHOTOS, { "a.png": "photo" });
    await faults.slow({ method: "get", by: "10m", times: 1 });
    expect(await careful.load(PHOTOS, "a.png")).toBe("photo");
    expect(await faults.injected()).toHaveLength(1);
  });
});

describe("a connection that breaks halfway through a body", () => {
  it("fails the careless version", async () => {
    await seed(PHOTOS, { "a.png": "photo" });
    await faults.drop({ key: "*.png", method: "get", nth: 1 });
    await expect(careless.load(PHOTOS, "a.png")).rejects.toThrow("Network connection lost.");
  });

  it("is retried in the careful version, and the response is complete", async () => {
    await seed(PHOTOS, { "a.png": "photo" });
    await faults.drop({ key: "*.png", method: "get", nth: 1 });
    const response = await exports.default.fetch("http://script/a.png");
    expect(await response.text()).toBe("photo");
  });
});

const attempt = async (count: typeof careful.count) => count(PHOTOS).catch(() => count(PHOTOS));

describe("an answer that is lost after the write", () => {
  it("makes the careless version count twice", async () => {
    await faults.drop({ key: "count", method: "put", nth: 1, when: "after" });
    expect(await attempt(careless.count)).toBe(2);
  });

  it("does not make the careful version count twice", async () => {
    await faults.drop({ key: "count", method: "put", nth: 1, when: "after" });
    expect(await attempt(careful.count)).toBe(1);
    expect(await contents(PHOTOS)).toEqual({ count: "1" });
  });
});
