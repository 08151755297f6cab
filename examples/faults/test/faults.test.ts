/** Each kind of fault, on a script that survives it and on one that does not. */
import { env } from "cloudflare:workers";
import { SELF } from "cloudflare:test";
import { calls, contents, faults, seed } from "ledge/test";
import { describe, expect, it } from "vitest";
import * as careful from "../src/careful.ts";
import * as careless from "../src/careless.ts";

const { PHOTOS } = env;

describe("an error of the store, once", () => {
  it("loses a photo of the careless", async () => {
    await faults.fail({ method: "put", nth: 1, code: 10058 });
    await expect(careless.save(PHOTOS, "a.png", "photo")).rejects.toThrow("(10058)");
    expect(await contents(PHOTOS)).toEqual({});
  });

  it("costs the careful a second attempt", async () => {
    await faults.fail({ method: "put", nth: 1, code: 10058 });
    await careful.save(PHOTOS, "a.png", "photo");
    expect(calls).toHavePut("a.png", { times: 2 });
    expect(calls).toHavePut("a.png", { outcome: "error", code: 10058 });
    expect(await contents(PHOTOS)).toEqual({ "a.png": "photo" });
  });
});

describe("errors now and then", () => {
  const keys = Array.from({ length: 20 }, (_, index) => `${index}.png`);

  it("lose photos of the careless", async () => {
    await faults.fail({ method: "put", probability: 0.3, seed: 3 });
    await Promise.allSettled(keys.map((key) => careless.save(PHOTOS, key, key)));
    expect(Object.keys(await contents(PHOTOS)).length).toBeLessThan(keys.length);
  });

  it("lose none of the careful", async () => {
    await faults.fail({ method: "put", probability: 0.3, seed: 3 });
    await Promise.all(keys.map((key) => careful.save(PHOTOS, key, key)));
    expect(Object.keys(await contents(PHOTOS))).toHaveLength(keys.length);
  });
});

describe("a call that takes long, once", () => {
  it("keeps the careless waiting", async () => {
    await seed(PHOTOS, { "a.png": "photo" });
    await faults.slow({ method: "get", by: "400ms", times: 1 });
    const patience = new Promise((resolve) => setTimeout(resolve, 250, "no answer yet"));
    expect(await Promise.race([careless.load(PHOTOS, "a.png"), patience])).toBe("no answer yet");
  });

  it("is given up by the careful", async () => {
    await seed(PHOTOS, { "a.png": "photo" });
    await faults.slow({ method: "get", by: "10m", times: 1 });
    expect(await careful.load(PHOTOS, "a.png")).toBe("photo");
    expect(await faults.injected()).toHaveLength(1);
  });
});

describe("a connection that breaks halfway through a body, once", () => {
  it("breaks the careless", async () => {
    await seed(PHOTOS, { "a.png": "photo" });
    await faults.drop({ key: "*.png", method: "get", nth: 1 });
    await expect(careless.load(PHOTOS, "a.png")).rejects.toThrow("Network connection lost.");
  });

  it("does not break the careful, nor who asks them", async () => {
    await seed(PHOTOS, { "a.png": "photo" });
    await faults.drop({ key: "*.png", method: "get", nth: 1 });
    const response = await SELF.fetch("http://script/a.png");
    expect(await response.text()).toBe("photo");
  });
});

const attempt = async (count: typeof careful.count) => count(PHOTOS).catch(() => count(PHOTOS));

describe("an answer that is lost after the work was done", () => {
  it("has the careless count twice", async () => {
    await faults.drop({ key: "count", method: "put", nth: 1, when: "after" });
    expect(await attempt(careless.count)).toBe(2);
  });

  it("does not have the careful count twice", async () => {
    await faults.drop({ key: "count", method: "put", nth: 1, when: "after" });
    expect(await attempt(careful.count)).toBe(1);
    expect(await contents(PHOTOS)).toEqual({ count: "1" });
  });
});
