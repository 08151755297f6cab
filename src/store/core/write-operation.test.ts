import { expect, it } from "vitest";
import { StoreError } from "./errors.ts";
import { validateWrite } from "./write-operation.ts";

it("validateWrite() checks the key, and the metadata of an object", () => {
  expect(() => validateWrite({ key: "a" })).not.toThrow();
  expect(() => validateWrite({ key: "a".repeat(1025) })).toThrow(StoreError);
  expect(() => validateWrite({ key: "a", http: {}, custom: { b: "c" } })).not.toThrow();
  const custom = { b: "c".repeat(10_000) };
  expect(() => validateWrite({ key: "a", http: {}, custom })).toThrow(StoreError);
});
