import { afterEach, describe, expect, it, vi } from "vitest";
import { compareVersions, packageOfModule } from "./package-version.ts";
import { testedVersions } from "./tested-versions.ts";

describe("compareVersions()", () => {
  it.each([
    ["4.124.0", "4.124.0", 0],
    ["4.9.0", "4.124.0", -1],
    ["5.0.0", "4.158.0", 1],
    ["5.20260815.0-alpha", "5.20261104.0-beta", -1],
    ["5.20261104.0-alpha", "5.20261104.0-beta", -1],
    ["5.20261104.0-beta", "5.20261104.0", -1],
    ["5.20261104.0", "5.20261104.0-beta", 1],
    ["1.0.0+build", "1.0.0", 0],
  ])("compares %s with %s", (a, b, sign) => {
    expect(Math.sign(compareVersions(a, b))).toBe(sign);
  });
});

describe("packageOfModule()", () => {
  it("finds the package of a module in a folder below", () => {
    expect(packageOfModule(import.meta.filename)).toMatchObject({ name: "ledge" });
  });

  it("is null outside of a package", () => {
    expect(packageOfModule("/no-such-folder/index.js")).toBeNull();
  });
});

describe("checkVersion()", () => {
  const [oldest, newest] = testedVersions.wrangler;
  afterEach(() => {
    vi.restoreAllMocks();
    vi.resetModules();
  });

  it("refuses an older version, and says what to do", async () => {
    const { checkVersion } = await import("./package-version.ts");
    expect(() => checkVersion("wrangler", "4.1.0", "/project")).toThrow(
      `Ledge needs wrangler ${oldest} or later, and /project has 4.1.0. ` +
        `Update it: npm install --save-dev wrangler@${newest}`,
    );
  });

  it("warns of newer versions with one line in a process", async () => {
    vi.resetModules();
    const { checkVersion } = await import("./package-version.ts");
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    checkVersion("wrangler", newest, "/project");
    expect(warn).not.toHaveBeenCalled();
    checkVersion("wrangler", "4.9999.0", "/project");
    checkVersion("miniflare", "6.0.0", "/project");
    expect(warn.mock.calls).toEqual([
      [
        `Ledge was tested with wrangler up to ${newest}, and this is 4.9999.0. ` +
          `If something fails, install wrangler@${newest} or a newer version of ledge.`,
      ],
    ]);
  });
});
