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

/** The keys of the remote "cluster", as the environment has them. */
export const clusterKeys = {
  LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID: "cluster-key-id",
  LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY: "cluster-secret-access-key",
};

/** A service with the bucket "photos" and the keys of the remote "cluster". */
export function startCluster(stateFolder: string): ReturnType<typeof startS3> {
  const credentials = {
    accessKeyId: clusterKeys.LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID,
    secretAccessKey: clusterKeys.LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY,
  };
  return startS3({ stateFolder, buckets: [{ name: "photos" }], port: 0, credentials });
}
