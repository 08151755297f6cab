/** `startS3()` on a state folder. No other process owns the folder, so this process starts a runtime. */
import { startS3 } from "../../../dist/index.js";
import { serveUntilEnd } from "../server-process.ts";

const s3 = await startS3({
  stateFolder: process.argv[2] as string,
  buckets: [{ name: "bench" }],
  port: 0,
});
await serveUntilEnd({ port: s3.port, path: "/bench", ...s3.credentials });
await s3.close();
