import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import type * as PackageVersion from "./package-version.ts";
import {
  checkVersion,
  compareVersions,
  isOtherMajor,
  packageOfModule,
  requireParts,
} from "./package-version.ts";
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

describe("isOtherMajor()", () => {
  it.each([
    ["5.1.0", "^4.1.0", true],
    ["4.1.12", "^4.1.0", false],
    ["3.2.0", "^4.1.0 || ~5.0.0", true],
    ["5.1.0", "^4.1.0 || ^5.0.0", false],
    ["5.1.0", "4.1.12", true],
    ["5.1.0", ">=4.1.0", false],
    ["5.1.0", "2.0.x - 3.2.x", false],
    ["5.1.0", "*", false],
  ])("is, of %s and %s, %s", (version, range, isOther) => {
    expect(isOtherMajor(version, range)).toBe(isOther);
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
  let processes = 0;
  afterEach(() => void vi.restoreAllMocks());

  it("refuses an older version, and says what to do", () => {
    expect(() => checkVersion("wrangler", "4.1.0", "/project")).toThrow(
      `Ledge needs wrangler ${oldest} or later, and /project has 4.1.0. ` +
        `Update it: npm install --save-dev wrangler@${newest}`,
    );
  });

  /** What a process says of newer versions, each a name and a version. */
  async function warningsOfProcess(
    folder: string,
    ...found: (readonly ["wrangler" | "miniflare", string])[]
  ) {
    // Node loads a module with another query again.
    const { checkVersion: check } = (await import(
      `./package-version.ts?process=${++processes}`
    )) as typeof PackageVersion;
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    for (const [name, version] of found) check(name, version, folder);
    const lines = warn.mock.calls.map(([line]) => String(line));
    warn.mockRestore();
    return lines;
  }

  it("warns of a newer version once, with one line for all packages", async () => {
    const folder = join(temporaryFolder({ "node_modules/wrangler/index.js": "" }), "node_modules");
    expect(await warningsOfProcess(folder, ["wrangler", newest])).toEqual([]);
    const newer = [
      ["wrangler", "4.9999.0"],
      ["miniflare", "6.0.0"],
    ] as const;
    expect(await warningsOfProcess(folder, ...newer)).toEqual([
      `Ledge was tested with wrangler up to ${newest}, and this is 4.9999.0, which probably works. This is ` +
        `said once. If something fails: npm install --save-dev ledge@latest, or wrangler@${newest}.`,
    ]);
    expect(await warningsOfProcess(folder, ...newer.toReversed())).toEqual([]);
    expect(await warningsOfProcess(folder, ["wrangler", "4.10000.0"])).toHaveLength(1);
  });

  it("warns each time where it can remember nothing", async () => {
    const outside = temporaryFolder();
    const noFolder = temporaryFolder({ node_modules: "a file" });
    for (const folder of [outside, join(outside, "node_modules"), join(noFolder, "node_modules")]) {
      expect(await warningsOfProcess(folder, ["wrangler", "4.9999.0"])).toHaveLength(1);
      expect(await warningsOfProcess(folder, ["wrangler", "4.9999.0"])).toHaveLength(1);
    }
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe("requireParts()", () => {
  const parts = requireParts<{ present: number; missing?: number }>({ present: 1 }, "wrangler 9.0");

  it("returns a part", () => {
    expect(parts.present).toBe(1);
  });

  it("names a part that is missing, and a version that has it", () => {
    expect(() => parts.missing).toThrow(
      `wrangler 9.0 has no missing, which Ledge uses. Install wrangler@${testedVersions.wrangler[1]}, ` +
        "with which Ledge was tested, or a newer version of ledge.",
    );
  });
});
