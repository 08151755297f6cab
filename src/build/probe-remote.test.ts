import { expect, it } from "vitest";
import { assumedFeatures } from "./probe-remote.ts";

it("assumedFeatures() has no feature whose lack is accepted", () => {
  expect(assumedFeatures([])).toEqual({
    putIfMatch: "quoted",
    putIfNoneMatch: true,
    conditionalComplete: true,
    conditionalDelete: true,
  });
  expect(assumedFeatures(["conditional-put", "conditional-delete"])).toEqual({
    putIfMatch: null,
    putIfNoneMatch: false,
    conditionalComplete: true,
    conditionalDelete: false,
  });
});
