import { describe, expect, it } from "vitest";
import type { Call } from "../store/core/recorded-call.ts";
import { callMatchers } from "./call-matchers.ts";

const call = (fields: Partial<Call>): Call => ({
  bucket: "photos",
  method: "put",
  key: "a.png",
  keys: ["a.png"],
  bytes: 5,
  outcome: "ok",
  ...fields,
});

const calls = [call({}), call({ method: "delete", keys: ["b", "c"], bytes: 0 })];

describe("callMatchers", () => {
  it("finds calls by method, key and details", () => {
    expect(callMatchers.toHavePut(calls, "*.png", { bytes: 5, times: 1 }).pass).toBe(true);
    expect(callMatchers.toHaveDeleted(calls, "c").pass).toBe(true);
    expect(callMatchers.toHavePut(calls, "b").pass).toBe(false);
    expect(callMatchers.toHavePut(calls, undefined, { bucket: "thumbnails" }).pass).toBe(false);
    expect(callMatchers.toHavePut(calls, undefined, { times: 2 }).pass).toBe(false);
    expect(callMatchers.toHaveCalled(calls, "delete").pass).toBe(true);
  });

  it("prints the expected call and the calls that were made", () => {
    expect(callMatchers.toHaveGot(calls, "a.png", { outcome: "none" }).message()).toBe(
      'expect(calls).toHaveGot(): expected get of a.png with {"outcome":"none"}, found 0. Calls:\n' +
        "  put a.png in photos: ok, 5 bytes\n" +
        "  delete b, c in photos: ok, 0 bytes",
    );
    expect(callMatchers.toHaveListed([]).message()).toContain("Calls:\n  none");
  });
});
