import { expect, it } from "vitest";
import { bindingMessage, StoreError } from "./errors.ts";

const cases = [
  [10001, 500, "InternalError", "We encountered an internal error. Please try again."],
  [10024, 404, "NoSuchUpload", "The specified multipart upload does not exist."],
  [10039, 416, "InvalidRange", "The requested range is not satisfiable"],
] as const;

it.each(cases)("StoreError %i is %i %s", (code, status, s3Name, text) => {
  const error = new StoreError(code);
  expect(error).toBeInstanceOf(Error);
  expect(error.name).toBe("StoreError");
  expect(error.message).toBe(text);
  expect(error).toMatchObject({ code, status, s3Name });
});

it("StoreError takes a text in place of the text of the table", () => {
  const error = new StoreError(10001, "The cursor is not valid.");
  expect(error.message).toBe("The cursor is not valid.");
  expect(error).toMatchObject({ code: 10001, status: 500, s3Name: "InternalError" });
});

it.each([
  ["put", "put: No. (10048)"],
  ["completeUpload", "completeMultipartUpload: No. (10048)"],
] as const)(
  "bindingMessage() of %s has the name that callers know, the text and the code",
  (method, message) => {
    expect(bindingMessage(method, { code: 10048, text: "No." })).toBe(message);
  },
);
