import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { systemErrorText } from "./system-error.ts";

function errorOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

it("systemErrorText() names the file and the reason", () => {
  expect(systemErrorText(errorOf(() => readFileSync("/none/file")))).toBe(
    "Cannot use /none/file: no such file or directory (ENOENT).",
  );
});

it("systemErrorText() leaves other errors alone", () => {
  expect(systemErrorText(new TypeError("x is not a function"))).toBeNull();
  expect(systemErrorText("text")).toBeNull();
});
