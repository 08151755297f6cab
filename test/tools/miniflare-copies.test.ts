/** A project with two copies of Miniflare, as npm installs them for tools of different versions. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { makeProject } from "./support/packed-project.ts";

const miniflare = realpathSync(
  fileURLToPath(new URL("../../node_modules/miniflare", import.meta.url)),
);

/** Tries a bucket of the project's Miniflare, of wrangler's, and of one whose class is out of reach. */
const program = `
import { createRequire } from "node:module";
import { getPlatformProxy, storeBindings } from "ledge";
import { Miniflare, ProxyNodeBinding } from "miniflare";
import bundle from "miniflare/dist/src/bundle.js";

const ofWrangler = createRequire(createRequire(import.meta.url).resolve("wrangler"))("miniflare");
console.log(ofWrangler.ProxyNodeBinding === ProxyNodeBinding ? "one copy" : "two copies");
const options = { workers: [{ config: {
  name: "script", compatibilityDate: "2026-08-01",
  manifest: {
    mainModule: "index.js",
    modules: { "index.js": { type: "esm", contents: "export default {};" } },
  },
  env: storeBindings({ PHOTOS: { bucket_name: "photos" } }),
} }] };
const hosts = [new Miniflare(options), await getPlatformProxy(), new bundle.Bundled(options)];
for (const host of hosts) {
  const { PHOTOS } = host.env ?? (await host.getBindings());
  try {
    await PHOTOS.put("key", "value");
    console.log(await (await PHOTOS.get("key")).text());
  } catch (error) {
    console.log(error.message);
  }
}
await Promise.all(hosts.map((host) => host.dispose()));
`;

it("a bucket in Node is of the Miniflare that asks for it, or says why it cannot be", () => {
  const { folder } = makeProject(
    {
      "wrangler.json": JSON.stringify({
        name: "script",
        compatibility_date: "2026-08-01",
        store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      }),
      "program.mjs": program,
    },
    { without: ["miniflare"] },
  );
  // wrangler has the repository's Miniflare, and the project has a copy.
  const copy = join(folder, "node_modules/miniflare");
  cpSync(miniflare, copy, { recursive: true });
  const manifest = readFileSync(join(copy, "package.json"), "utf8");
  const newer = manifest.replace(/"version": ".*"/, '"version": "5.99999999.0-beta"');
  writeFileSync(join(copy, "package.json"), newer);
  // A tool can have Miniflare inside of its own file, with other exports.
  const bundle = join(copy, "dist/src/bundle.js");
  copyFileSync(join(copy, "dist/src/index.js"), bundle);
  appendFileSync(bundle, "\nmodule.exports = { Bundled: module.exports.Miniflare };\n");

  const { stdout, stderr } = spawnSync(process.execPath, ["program.mjs"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
  });
  expect(stdout.trim().split("\n")).toEqual([
    "two copies",
    "value",
    "value",
    "This binding belongs to another copy of Miniflare than the one that made it, because the " +
      "process has loaded several copies. Keep one copy: run npm ls miniflare, and install the " +
      "version that wrangler depends on.",
  ]);
  const warnings = stderr.split("\n").filter((line) => line.includes("Ledge was tested with"));
  expect(warnings).toEqual([
    expect.stringMatching(/miniflare up to \S+, and this is 5\.99999999\.0-beta, /),
  ]);
});
