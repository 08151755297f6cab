import { getDefaultDevRegistryPath } from "miniflare";
import { afterEach, describe, expect, it, vi } from "vitest";
import { devRegistryPath } from "./wrangler.ts";

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
