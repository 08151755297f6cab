import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = new URL("../../../", import.meta.url);
export const bundlePath = fileURLToPath(new URL("node_modules/.cache/dns/worker.js", root));

/** The companion worker as workerd loads it: one module. */
export async function bundleWorker(): Promise<void> {
  await mkdir(fileURLToPath(new URL("node_modules/.cache/dns/", root)), { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL("worker/index.ts", root))],
    outfile: bundlePath,
    bundle: true,
    format: "esm",
    target: "es2024",
    external: ["cloudflare:*"],
  });
}

/** vitest's global setup: every file then starts the same bundle. */
export default bundleWorker;
