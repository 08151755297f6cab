/**
 * The S3 service behind the runtimes: Ledge's own, for a try; Ceph, as test/peers/ceph starts it; or a
 * cluster that exists, by the variables S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.
 */
import { randomBytes } from "node:crypto";
import { startS3 } from "ledge";

export interface S3Service {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A sentence for the start. */
  readonly description: string;
  stop(): Promise<void>;
}

const bucketName = "notes";

export interface OwnServiceOptions {
  readonly stateFolder: string;
  /** An address that the runtimes reach. */
  readonly host: string;
}

export async function startOwnService({
  stateFolder,
  host,
}: OwnServiceOptions): Promise<S3Service> {
  const credentials = {
    accessKeyId: randomBytes(8).toString("hex"),
    secretAccessKey: randomBytes(32).toString("hex"),
  };
  const buckets = [{ name: bucketName }];
  const running = await startS3({
    stateFolder,
    host,
    buckets,
    credentials,
    port: 0,
    hosts: [host],
  });
  return {
    endpoint: `http://${host}:${running.port}`,
    ...credentials,
    description: "the S3-compatible API of Ledge",
    stop: () => running.close(),
  };
}

/** @throws Error when Ceph is not installed: the message says how to install it */
export async function startCephService(host: string): Promise<S3Service> {
  const { startCeph } = (await import(cephModule)) as CephModule;
  const { cephConfiguration } = (await import(cephConfigurationModule)) as CephConfigurationModule;
  const ceph = await startCeph("newest", (addresses) =>
    cephConfiguration({
      ...addresses,
      gatewayAddress: gatewayEndpoints(addresses.gatewayAddress, host),
    }),
  );
  try {
    await ceph.createBucket(bucketName);
  } catch (error) {
    await ceph.stop();
    throw error;
  }
  const { accessKeyId, secretAccessKey, version } = ceph;
  return {
    endpoint: ceph.endpoint.replace("127.0.0.1", host),
    accessKeyId,
    secretAccessKey,
    description: `Ceph ${version}`,
    stop: () => ceph.stop(),
  };
}

/** Besides loopback, which other network namespaces do not reach. No other address is served. */
function gatewayEndpoints(loopback: string, host: string): string {
  return host === "127.0.0.1"
    ? loopback
    : `${loopback} endpoint=${loopback.replace("127.0.0.1", host)}`;
}

export function existingService(): S3Service | null {
  const {
    S3_ENDPOINT: endpoint,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  } = process.env;
  if (endpoint === undefined) return null;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Error("S3_ENDPOINT needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.");
  }
  return {
    endpoint,
    accessKeyId,
    secretAccessKey,
    description: `the cluster at ${endpoint}`,
    stop: async () => {},
  };
}

/** Parts of the repository that are not in the package. */
const cephModule = new URL("../../../test/peers/ceph/cluster.ts", import.meta.url).href;
const cephConfigurationModule = new URL(
  "../../../test/peers/ceph/configuration.ts",
  import.meta.url,
).href;

interface Addresses {
  readonly gatewayAddress: string;
}

interface CephModule {
  readonly startCeph: (
    release: "newest",
    configurationOf: (addresses: Addresses) => string,
  ) => Promise<{
    readonly endpoint: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly version: string;
    createBucket(name: string): Promise<void>;
    stop(): Promise<void>;
  }>;
}

interface CephConfigurationModule {
  readonly cephConfiguration: (addresses: Addresses) => string;
}
