/**
 * Each worker has a dev server with a state folder of its own, so the tests run in parallel and in any order.
 *
 * CHROMIUM is the path of a browser, where `npx playwright install chromium` has installed none.
 */
import { defineConfig } from "@playwright/test";
import type { LedgeOptions } from "ledge/playwright";

const { CHROMIUM: executablePath, ISOLATE } = process.env;

export default defineConfig<object, LedgeOptions>({
  testDir: "e2e",
  fullyParallel: true,
  workers: 2,
  use: {
    ledge: {
      configPath: "wrangler.jsonc",
      // Without isolation, most tests of a run fail: they see the photos of each other.
      isolate: ISOLATE !== "false",
    },
    ...(executablePath !== undefined && { launchOptions: { executablePath } }),
  },
});
