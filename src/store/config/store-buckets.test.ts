import { describe, expect, it } from "vitest";
import { UserError } from "../../base/user-error.ts";
import { compatibilitySettings, isStoreFlag, parseBucketOptions } from "./store-buckets.ts";

const name = "my-bucket";

function badDate(day: string): string {
  return `compatibility_date must be a date in the form YYYY-MM-DD, not "${day}".`;
}

describe("parseBucketOptions()", () => {
  it("accepts a name alone", () => {
    expect(parseBucketOptions("B", { bucket_name: name })).toEqual({
      bucketName: name,
      storageClass: "Standard",
    });
  });

  it("accepts all options", () => {
    expect(
      parseBucketOptions("B", {
        bucket_name: name,
        storage_class: "InfrequentAccess",
        compatibility_date: "2022-08-04",
        compatibility_flags: ["store_list_trailing_delimiter"],
        latency_milliseconds: 60_000,
        verify_reads: true,
        durability: "process",
        list_trailing_delimiter: true,
        public: true,
        s3_compatibility: "aws",
      }),
    ).toEqual({
      bucketName: name,
      storageClass: "InfrequentAccess",
      compatibilityDate: "2022-08-04",
      compatibilityFlags: ["store_list_trailing_delimiter"],
      latencyMilliseconds: 60_000,
      verifyReads: true,
      durability: "process",
      listTrailingDelimiter: true,
      public: true,
      s3Compatibility: "aws",
    });
  });

  it("treats undefined options as absent", () => {
    expect(
      parseBucketOptions("B", {
        bucket_name: name,
        storage_class: undefined,
        compatibility_date: undefined,
        compatibility_flags: undefined,
      }),
    ).toEqual({ bucketName: name, storageClass: "Standard" });
  });

  it.each(["a", "7", "ab", "a.b_c-D9", "a".repeat(63)])("accepts the name %j", (bucketName) => {
    expect(parseBucketOptions("B", { bucket_name: bucketName }).bucketName).toBe(bucketName);
  });

  const badNames = [
    "",
    "-a",
    "a-",
    ".",
    "..",
    ".a",
    "a.",
    "_a",
    "a/b",
    "a\\b",
    "a b",
    "a:b",
    "\xe9",
    "a\n",
  ];
  it.each([...badNames, "a".repeat(64)])("refuses the name %j", (bucketName) => {
    expect(() => parseBucketOptions("PHOTOS", { bucket_name: bucketName })).toThrow(
      new UserError(
        `Store bucket "PHOTOS": bucket_name ${JSON.stringify(bucketName)} is not a valid bucket name. ` +
          'Use 1 to 63 letters, digits, ".", "_" and "-", ' +
          "beginning and ending with a letter or a digit.",
      ),
    );
  });

  const missing = 'options are missing. Give at least { bucket_name: "my-bucket" }.';
  const known =
    "bucket_name, storage_class, compatibility_date, compatibility_flags, latency_milliseconds, verify_reads, durability, list_trailing_delimiter, public, s3_compatibility, observed, remote";
  const badLatency = "latency_milliseconds must be a whole number from 0 to 60000.";
  const noName = 'bucket_name is missing. Add it, as in "my-bucket".';
  const classes = 'storage_class must be "Standard" or "InfrequentAccess"';
  it.each([
    [undefined, missing],
    [null, missing],
    ["photos", missing],
    [{}, noName],
    [{ bucket_name: undefined }, noName],
    [{ bucket_name: 5 }, "bucket_name must be text, not a number."],
    [{ bucket_name: null }, "bucket_name must be text, not null."],
    [{ bucketName: name }, 'bucketName is not a key; did you mean "bucket_name"?'],
    [{ bucket_name: name, jurisdiction: "eu" }, `jurisdiction is not a key; known are ${known}.`],
    [{ bucket_name: name, storage_class: "Glacier" }, `${classes}, not "Glacier".`],
    [{ bucket_name: name, storage_class: "standard" }, `${classes}, not "standard".`],
    [{ bucket_name: name, storage_class: null }, `${classes}, not null.`],
    [{ bucket_name: name, s3_compatibility: "AWS" }, 's3_compatibility must be "aws", not "AWS".'],
    [{ bucket_name: name, compatibility_date: "2022-8-4" }, badDate("2022-8-4")],
    [{ bucket_name: name, compatibility_date: "2022-08-04T00:00" }, badDate("2022-08-04T00:00")],
    [
      { bucket_name: name, compatibility_date: 20220804 },
      "compatibility_date must be text, not a number.",
    ],
    [
      { bucket_name: name, compatibility_flags: "store_list_honor_include" },
      "compatibility_flags must be a list.",
    ],
    [{ bucket_name: name, compatibility_flags: ["a", 5] }, "compatibility_flags[1] must be text."],
    [{ bucket_name: name, latency_milliseconds: -1 }, badLatency],
    [{ bucket_name: name, latency_milliseconds: 1.5 }, badLatency],
    [{ bucket_name: name, latency_milliseconds: 60_001 }, badLatency],
    [{ bucket_name: name, latency_milliseconds: "5" }, badLatency],
  ])("refuses %o", (options, problem) => {
    expect(() => parseBucketOptions("PHOTOS", options)).toThrow(
      new UserError(`Store bucket "PHOTOS": ${problem}`),
    );
  });
});

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
    expect(compatibilitySettings("2026-01-01", ["nodejs_compat", "no_such_flag"])).toEqual({
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
