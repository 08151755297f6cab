/** The paths of keys. */
import { describe, expect, it } from "vitest";
import { requestPath } from "./s3-connection.ts";

describe("requestPath()", () => {
  it.each([
    [undefined, "/photos"],
    ["a/b c", "/photos/a/b%20c"],
    ["a//b", "/photos/a//b"],
    ["/a", "/photos//a"],
    ["é*", "/photos/%C3%A9%2A"],
    ["...", "/photos/..."],
    ["%2e%2e/a", "/photos/%252e%252e/a"],
  ])("encodes the key %s", (key, path) => {
    expect(requestPath("photos", key)).toEqual({ sent: path, decoded: path });
  });

  it.each(["a/../b", "./a", "a/.", "../..", "a/b/../c d"])(
    "sends the key %s in a path that a URL keeps",
    (key) => {
      const { sent, decoded } = requestPath("photos", key);
      expect(new URL(`http://localhost${sent}`).pathname).toBe(sent);
      expect(decodeURIComponent(sent)).toBe(`/photos/${key}`);
      expect(decoded).toBe(sent.replaceAll("%2F", "/"));
    },
  );
});
