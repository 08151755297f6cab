import { expect, it } from "vitest";
import { formatBytes } from "./format.ts";

it.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1023, "1023 bytes"],
  [1536, "1.5 KiB"],
  [5 * 1024 ** 3, "5.0 GiB"],
])("formatBytes(%i) is %j", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
