/** Where browsers are, and the words that start one. */
import { describe, expect, it } from "vitest";
import { Authority } from "../../tls/authority.ts";
import { browserWords, findBrowser } from "./browser.ts";

describe("findBrowser()", () => {
  it.each([
    ["linux", { PATH: "/a:/b" }, ["/b/chromium", "/a/google-chrome"], "/b/chromium"],
    ["linux", { PATH: "/a:/b" }, ["/a/brave-browser"], "/a/brave-browser"],
    [
      "darwin",
      {},
      ["/Applications/Chromium.app/Contents/MacOS/Chromium"],
      "/Applications/Chromium.app/Contents/MacOS/Chromium",
    ],
    ["linux", {}, ["/b/chromium"], null],
  ] as const)("on %s with %j and %j", (platform, environment, paths, expected) => {
    const exists = (path: string): boolean => (paths as readonly string[]).includes(path);
    expect(findBrowser(platform, environment, exists)).toBe(expected);
  });
});

it("browserWords() leave the sandbox to all users but root", () => {
  const { certificate } = Authority.temporary(new Date());
  const options = { profile: "/tmp/p", proxyUrl: "http://127.0.0.1:7", certificate };
  const words = browserWords({ ...options, isRoot: false });
  expect(words).toEqual(
    expect.arrayContaining([
      "--user-data-dir=/tmp/p",
      "--proxy-server=http://127.0.0.1:7",
      expect.stringMatching(/^--ignore-certificate-errors-spki-list=[\w+/]{43}=$/),
    ]),
  );
  expect(words).not.toContain("--no-sandbox");
  expect(browserWords({ ...options, isRoot: true })).toContain("--no-sandbox");
});
