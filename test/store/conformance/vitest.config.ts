/** The vitest project that runs the conformance suite inside workerd, on the built plugin. */
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { compatibilityDate, unsafeBindings } from "./bindings.ts";

const plugin = {
  package: decodeURIComponent(new URL("../../../dist/plugin.js", import.meta.url).pathname),
  name: "store",
};

export default defineConfig({
  plugins: [
    cloudflareTest({
      miniflare: {
        compatibilityDate,
        compatibilityFlags: ["nodejs_compat"],
        unsafeBindings: unsafeBindings(plugin),
      },
    }),
  ],
  test: {
    name: "conformance",
    include: ["workerd.test.ts"],
    // Runtimes start slowly on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
