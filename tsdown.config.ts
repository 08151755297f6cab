import { defineConfig, type UserConfig } from "tsdown";
import { thirdPartyNotices } from "./scripts/third-party-notices.ts";

/** Minification keeps the names of functions and classes for stack traces. */
const keepNames = { function: true, class: true };

/** For all modules. A build that succeeds prints nothing (with `--logLevel warn`): these two warnings are not about our code. */
const common: UserConfig = {
  tsconfig: "tsconfig.node.json",
  suppressWarnings: "TypeScript 7.0 does not yet have a stable API",
  // Types take most of the time of a build, and the message says so each time.
  checks: { pluginTimings: false },
  plugins: [thirdPartyNotices()],
};

/** A module that workerd loads: one self-contained file, never a shared chunk. */
function workerdModule(name: string, entry: string): UserConfig {
  return {
    ...common,
    tsconfig: "tsconfig.workerd.json",
    entry: { [name]: entry },
    outDir: "dist/workerd",
    platform: "neutral",
    target: "es2024",
    dts: false,
    clean: false,
    outExtensions: () => ({ js: ".js" }),
    // Miniflare copies these modules about sixty times on the way to workerd: small modules start faster.
    minify: { compress: { keepNames }, mangle: { keepNames }, codegen: true },
    // Schemas are built when their module is loaded. A module whose exports are unused is left out.
    treeshake: { moduleSideEffects: false },
    deps: {
      neverBundle: [/^cloudflare:/, /^workerd:/, /^node:/],
      onlyBundle: ["valibot", /^@noble\/hashes/],
    },
  };
}

/** A module that vitest loads into workerd through Vite. */
function vitestModule(name: string, entry: string, dts: UserConfig["dts"]): UserConfig {
  return {
    ...workerdModule(name, entry),
    minify: false,
    outDir: "dist",
    dts,
    outExtensions: () => ({ js: ".js", dts: ".d.ts" }),
    deps: { neverBundle: [/^cloudflare:/, /^workerd:/, /^node:/, "vitest"] },
  };
}

export default defineConfig([
  workerdModule("store-binding", "src/store/binding/index.ts"),
  workerdModule("store-remote-binding", "src/store/binding/remote.ts"),
  workerdModule("edge-status", "src/store/binding/status.ts"),
  workerdModule("store-namespace", "src/store/namespace/index.ts"),
  workerdModule("store-bucket", "src/store/bucket/index.ts"),
  workerdModule("dns-worker", "worker/index.ts"),
  workerdModule("dns-api-proxy", "worker/api-proxy.ts"),
  workerdModule("edge-worker", "src/edge/worker/index.ts"),
  {
    ...common,
    // The program of a worker thread: no module imports it.
    entry: { "dns-listener": "src/dns/server/listener-thread.ts" },
    outDir: "dist",
    platform: "node",
    target: "node22",
    dts: false,
    clean: false,
    outExtensions: () => ({ js: ".js" }),
  },
  {
    ...common,
    entry: {
      index: "src/index.ts",
      plugin: "src/dev/plugin/index.ts",
      cli: "src/cli/index.ts",
      // The tests run commands of the build in their own process.
      commands: "src/cli/root.ts",
      playwright: "src/playwright/index.ts",
      vite: "src/vite/index.ts",
      vitest: "src/testing/vitest/index.ts",
    },
    outDir: "dist",
    platform: "node",
    hash: false,
    target: "node22",
    // What the package exports: `cli` and `commands` have no types.
    dts: { entry: ["src/index.ts", "src/{dev/plugin,playwright,vite,testing/vitest}/index.ts"] },
    clean: false,
    outExtensions: () => ({ js: ".js", dts: ".d.ts" }),
    // valibot and open, with its dependencies, are development dependencies and get bundled.
    deps: {
      neverBundle: ["miniflare", "wrangler", "vite", "@cloudflare/vite-plugin", "@playwright/test"],
      onlyBundle: false,
    },
  },
  vitestModule("test", "src/testing/index.ts", true),
  vitestModule("vitest-runner", "src/testing/vitest/runner.ts", false),
]);
