/** Our own S3-compatible API as the service of remote buckets, on a state folder of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startS3 } from "../../dist/index.js";
import { remoteBuckets, type RemoteService } from "./remote-bucket.ts";

export interface RunningService extends RemoteService {
  readonly stop: () => Promise<void>;
}

export async function startOwnService(): Promise<RunningService> {
  const stateFolder = mkdtempSync(join(tmpdir(), "ledge-service-"));
  const server = await startS3({
    stateFolder,
    buckets: remoteBuckets.map((name) => ({ name })),
    port: 0,
  });
  return {
    name: "ledge",
    endpoint: `http://127.0.0.1:${server.port}`,
    ...server.credentials,
    stop: async () => {
      await server.close();
      rmSync(stateFolder, { recursive: true, force: true });
    },
  };
}
