/** The S3 service that both sides call: Ceph if it is installed, else our own S3-compatible API. */
import { join } from "node:path";
import { installedCephVersion, startCeph } from "../../test/peers/ceph/cluster.ts";
import { ServerProcess } from "../s3/server-process.ts";

export interface BenchService {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucketName: string;
}

export interface RunningBenchService extends BenchService {
  /** For the output. */
  readonly description: string;
  stop(): Promise<void>;
}

const bucketName = "bench";

export async function startService(folder: string, isOwn: boolean): Promise<RunningBenchService> {
  if (!isOwn && installedCephVersion() !== null) {
    const ceph = await startCeph();
    await ceph.createBucket(bucketName);
    const { endpoint, accessKeyId, secretAccessKey, version } = ceph;
    return {
      endpoint,
      accessKeyId,
      secretAccessKey,
      bucketName,
      description: `Ceph ${version}`,
      stop: () => ceph.stop(),
    };
  }
  const server = await ServerProcess.start("ours", join(folder, "service"));
  const { port, accessKeyId, secretAccessKey } = server.address;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId,
    secretAccessKey,
    bucketName,
    description: "our own S3-compatible API (test/peers/ceph/install.sh installs Ceph)",
    stop: () => server.stop(),
  };
}
