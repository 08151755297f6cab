import { defineConfig } from "vite";
import { thirdPartyNotices } from "../../../scripts/third-party-notices.ts";

/** The page of the explorer, for `dist/explorer`. */
export default defineConfig({
  root: import.meta.dirname,
  logLevel: "warn",
  plugins: [thirdPartyNotices()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../../../dist/explorer",
    emptyOutDir: true,
    target: "es2022",
    // The first versions with `light-dark()`.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: false,
    // A file that is a part of another as a data: URL would need another security policy.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/explorer-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  base: "/",
});
