/** `startS3()` on a state folder that a Miniflare owns, whose bucket has `durability = "process"`. */
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { startS3 } from "../../../dist/index.js";
import { serveUntilEnd } from "../server-process.ts";

const stateFolder = process.argv[2] as string;
const plugin = {
  package: fileURLToPath(new URL("../../../dist/plugin.js", import.meta.url)),
  name: "store",
};
const options = { bucket_name: "bench", durability: "process" };
const miniflare = new Miniflare({
  resourcePersistencePath: `${stateFolder}/v3`,
  workers: [
    {
      config: {
        name: "bench",
        compatibilityDate: "2026-08-01",
        manifest: {
          mainModule: "index.mjs",
          modules: { "index.mjs": { type: "esm", contents: "export default {};" } },
        },
        env: { BUCKET: { type: "unsafe:store_bucket", dev: { plugin, options } } },
      },
    },
  ],
});
await miniflare.ready;
const s3 = await startS3({ stateFolder, buckets: [{ name: "bench" }], port: 0 });
await serveUntilEnd({ port: s3.port, path: "/bench", ...s3.credentials });
await s3.close();
await miniflare.dispose();
