/** The S3 endpoint of Miniflare, which serves R2 buckets from a worker in workerd. */
import { CorePaths, Miniflare } from "miniflare";
import { serveUntilEnd } from "../server-process.ts";

const credentials = { accessKeyId: "bench", secretAccessKey: "bench-secret" };
const miniflare = new Miniflare({
  resourcePersistencePath: process.argv[2],
  workers: [
    {
      config: {
        name: "bench",
        compatibilityDate: "2026-08-01",
        manifest: {
          mainModule: "index.mjs",
          modules: { "index.mjs": { type: "esm", contents: "export default {};" } },
        },
        env: {
          BUCKET: { type: "r2", name: "bench", dev: { experimentalS3Credentials: credentials } },
        },
      },
    },
  ],
});
const { port } = await miniflare.ready;
await serveUntilEnd({ port: Number(port), path: `${CorePaths.R2_S3}/bench`, ...credentials });
await miniflare.dispose();
