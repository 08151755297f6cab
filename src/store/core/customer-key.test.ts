import { expect, it } from "vitest";
import { requireSameKey } from "./customer-key.ts";

it.each([
  [{}, undefined],
  [{ ssecKeyMd5: "a" }, "a"],
])("requireSameKey() accepts %j with the key %s", (holder, given) => {
  expect(() => requireSameKey(holder, given)).not.toThrow();
});

it.each([
  [{}, "a", "not applicable"],
  [{ ssecKeyMd5: "a" }, undefined, "correct parameters must be provided"],
  [{ ssecKeyMd5: "a" }, "b", "did not match"],
])("requireSameKey() refuses %j with the key %s", (holder, given, text) => {
  expect(() => requireSameKey(holder, given)).toThrow(
    expect.objectContaining({ code: 200004, message: expect.stringContaining(text) }),
  );
});
