import { describe, expect, it } from "vitest";
import { compatibilitySettings, isStoreFlag } from "./compatibility.ts";
import { UserError } from "../base/user-error.ts";

describe("compatibilitySettings()", () => {
  it.each([
    [undefined, [], false],
    ["2022-08-03", [], false],
    ["2022-08-04", [], true],
    ["2026-01-01", [], true],
    ["2022-08-03", ["store_list_honor_include"], true],
    [undefined, ["store_list_honor_include"], true],
    ["2022-08-03", ["store_list_trailing_delimiter"], false],
  ])("at %s with %j: honorInclude is %j", (date, flags, honorInclude) => {
    expect(compatibilitySettings(date, flags)).toMatchObject({ honorInclude });
  });

  it.each([
    [undefined, [], false],
    ["2026-01-01", [], false],
    ["2026-01-01", ["store_list_honor_include"], false],
    [undefined, ["store_list_trailing_delimiter"], true],
  ])("at %s with %j: trailingDelimiter is %j", (date, flags, trailingDelimiter) => {
    expect(compatibilitySettings(date, flags)).toMatchObject({ trailingDelimiter });
  });

  it.each([
    [undefined, [], false],
    ["2022-10-30", [], false],
    ["2022-10-31", [], true],
    ["2022-10-30", ["capture_async_api_throws"], true],
    ["2022-10-31", ["do_not_capture_async_api_throws"], false],
    [undefined, ["capture_async_api_throws", "do_not_capture_async_api_throws"], false],
  ])("at %s with %j: rejectBadArguments is %j", (date, flags, rejectBadArguments) => {
    expect(compatibilitySettings(date, flags)).toMatchObject({ rejectBadArguments });
  });

  it("ignores flags that are not the store's", () => {
    expect(compatibilitySettings("2026-01-01", ["nodejs_compat", "no_such_flag"])).toStrictEqual({
      honorInclude: true,
      trailingDelimiter: false,
      rejectBadArguments: true,
    });
  });

  it.each(["store_", "store_list_honour_include", "store_list_honor_include "])(
    "rejects the flag %j",
    (flag) => {
      expect(() => compatibilitySettings("2026-01-01", ["nodejs_compat", flag])).toThrow(
        new UserError(
          `Unknown compatibility flag "${flag}". Flags of store buckets are ` +
            "store_list_honor_include and store_list_trailing_delimiter: correct or remove it.",
        ),
      );
    },
  );
});

it.each([
  ["store_list_honor_include", true],
  ["store_anything", true],
  ["nodejs_compat", false],
  ["no_store_", false],
  ["restore_", false],
])("isStoreFlag() of %s is %j", (flag, ours) => {
  expect(isStoreFlag(flag)).toBe(ours);
});
