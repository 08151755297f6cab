import { expect, it } from "vitest";
import { StoreError } from "./errors.ts";
import { validateBucketName } from "./bucket-name.ts";

it.each(["abc", "my-bucket", "0-0", "a".repeat(63), "a--b"])(
  "validateBucketName() takes %s",
  (name) => {
    expect(() => validateBucketName(name)).not.toThrow();
  },
);

it.each([
  "",
  "ab",
  "a".repeat(64),
  "-ab",
  "ab-",
  "Abc",
  "a.b.c",
  "a_b",
  "a/b",
  "..",
  "buckét",
  "abc\n",
])("validateBucketName() refuses %j", (name) => {
  expect(() => validateBucketName(name)).toThrow(new StoreError(10005));
});
