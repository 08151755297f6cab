import { getDefaultDevRegistryPath } from "miniflare";
import { afterEach, describe, expect, it, vi } from "vitest";
import { testedVersions } from "./tested-versions.ts";
import { devRegistryPath, requireParts } from "./wrangler.ts";

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

describe("devRegistryPath()", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("is the folder that WRANGLER_REGISTRY_PATH names", () => {
    vi.stubEnv("WRANGLER_REGISTRY_PATH", "/somewhere");
    expect(devRegistryPath()).toBe("/somewhere");
    vi.stubEnv("WRANGLER_REGISTRY_PATH", "");
    expect(devRegistryPath()).toBe("");
  });

  // Miniflare of the pinned version has the default of wrangler.
  it.each([[undefined], ["/xdg"]])("is the default of wrangler, with XDG_CONFIG_HOME %s", (xdg) => {
    vi.stubEnv("WRANGLER_REGISTRY_PATH", undefined);
    vi.stubEnv("MINIFLARE_REGISTRY_PATH", undefined);
    vi.stubEnv("XDG_CONFIG_HOME", xdg);
    expect(devRegistryPath()).toBe(getDefaultDevRegistryPath());
  });
});
