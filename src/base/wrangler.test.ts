import { createRequire } from "node:module";
import type { getDefaultDevRegistryPath } from "miniflare";
import { afterEach, describe, expect, it, vi } from "vitest";
import { devRegistryPath, followReplacedBuilds, type WranglerEvent } from "./wrangler.ts";

describe("devRegistryPath()", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("is the folder that WRANGLER_REGISTRY_PATH names", () => {
    vi.stubEnv("WRANGLER_REGISTRY_PATH", "/somewhere");
    expect(devRegistryPath()).toBe("/somewhere");
    vi.stubEnv("WRANGLER_REGISTRY_PATH", "");
    expect(devRegistryPath()).toBe("");
  });

  // The Miniflare of the vitest pool has the default of wrangler, and the Miniflare of wrangler 4.160 has another.
  const pool = createRequire(import.meta.resolve("@cloudflare/vitest-pool-workers"));
  const earlier = pool("miniflare") as {
    getDefaultDevRegistryPath: typeof getDefaultDevRegistryPath;
  };

  it.each([[undefined], ["/xdg"]])("is the default of wrangler, with XDG_CONFIG_HOME %s", (xdg) => {
    vi.stubEnv("WRANGLER_REGISTRY_PATH", undefined);
    vi.stubEnv("MINIFLARE_REGISTRY_PATH", undefined);
    vi.stubEnv("XDG_CONFIG_HOME", xdg);
    expect(devRegistryPath()).toBe(earlier.getDefaultDevRegistryPath());
  });
});

it("followReplacedBuilds() finds the failures of a build until the next one has begun", () => {
  const isOfReplacedBuild = followReplacedBuilds();
  const ask = (event: object): boolean => isOfReplacedBuild(event as WranglerEvent);
  const reason = "Failed to rebuild the Worker";
  const rebuild = { type: "error", source: "BundlerController", reason };
  const [first, second] = [{ name: "first" }, { name: "second" }];

  expect(ask({ type: "configUpdate", config: first })).toBe(false);
  expect(ask({ type: "bundleStart", config: first })).toBe(false);
  expect(ask(rebuild)).toBe(false);
  expect(ask({ type: "configUpdate", config: second })).toBe(false);
  expect(ask({ type: "bundleStart", config: first })).toBe(false);
  expect(ask(rebuild)).toBe(true);
  expect(ask({ ...rebuild, reason: "Failed to start bundler" })).toBe(false);
  expect(ask({ ...rebuild, source: "ProxyController" })).toBe(false);
  expect(ask({ type: "bundleStart", config: second })).toBe(false);
  expect(ask(rebuild)).toBe(false);
});
