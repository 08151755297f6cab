/** The vitest project that runs the conformance suite inside workerd, on buckets of an S3 service. */
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { compatibilityDate, unsafeBindings } from "../bindings.ts";

const fileOf = (path: string): string =>
  decodeURIComponent(new URL(path, import.meta.url).pathname);
const plugin = { package: fileOf("../../../../dist/plugin.js"), name: "store" };

export default defineConfig({
  plugins: [
    cloudflareTest(({ inject }) => ({
      miniflare: {
        compatibilityDate,
        compatibilityFlags: ["nodejs_compat"],
        unsafeBindings: unsafeBindings(plugin, inject("service")),
      },
    })),
  ],
  test: {
    name: "conformance-remote",
    include: ["workerd.test.ts"],
    globalSetup: [fileOf("../../support/service-setup.ts")],
    // Runtimes start slowly on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
