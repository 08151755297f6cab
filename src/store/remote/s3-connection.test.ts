/** The paths of keys. */
import { describe, expect, it } from "vitest";
import { requestPath, retryAfterMilliseconds, retryDelay } from "./s3-connection.ts";

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

/** When a request is sent again. */

type Attempt = Parameters<typeof retryDelay>[0];

const attempt = (parts: Partial<Attempt>): Attempt => ({
  failed: 1,
  elapsedMilliseconds: 0,
  askedMilliseconds: null,
  random: 0.5,
  ...parts,
});

describe("retryDelay()", () => {
  it("doubles the longest delay, and takes a random part of it", () => {
    const delays = [1, 2, 3, 4].map((failed) => retryDelay(attempt({ failed })));
    expect(delays).toEqual([100, 200, 400, 800]);
    expect(retryDelay(attempt({ random: 0 }))).toBe(0);
  });

  it("ends after five attempts, and when the time is over", () => {
    expect(retryDelay(attempt({ failed: 5 }))).toBeNull();
    expect(retryDelay(attempt({ elapsedMilliseconds: 19_900 }))).toBe(100);
    expect(retryDelay(attempt({ elapsedMilliseconds: 19_901 }))).toBeNull();
  });

  it("waits as long as the service has asked for", () => {
    expect(retryDelay(attempt({ askedMilliseconds: 3000 }))).toBe(3000);
    expect(retryDelay(attempt({ askedMilliseconds: 50 }))).toBe(100);
  });
});

describe("retryAfterMilliseconds()", () => {
  const now = Date.parse("2026-02-03T04:05:06Z");

  it.each([
    [null, null],
    ["2", 2000],
    ["0", 0],
    ["3600", 5000],
    ["Tue, 03 Feb 2026 04:05:09 GMT", 3000],
    ["Tue, 03 Feb 2026 04:05:00 GMT", 0],
    ["soon", null],
    ["", null],
  ])("reads %s", (header, expected) => {
    expect(retryAfterMilliseconds(header, now)).toBe(expected);
  });
});
