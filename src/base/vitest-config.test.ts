import { describe, expect, it } from "vitest";
import { isOfVitest } from "./vitest-config.ts";

describe("isOfVitest()", () => {
  it("finds the plugins of vitest, also in lists of plugins", () => {
    const other = { name: "react" };
    expect(isOfVitest({ plugins: [other, { name: "vitest" }] })).toBe(true);
    expect(isOfVitest({ plugins: [null, [other, [{ name: "vitest:project" }]]] })).toBe(true);
    const others = [other, null, undefined, Promise.resolve([other]), { name: "vitest-pool" }];
    expect(isOfVitest({ plugins: others })).toBe(false);
    expect(isOfVitest({})).toBe(false);
  });
});
