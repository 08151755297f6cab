/**
 * The S3 service that tests of remote buckets use: our own endpoint, or the service that the environment
 * names (`npm run test:long -- ceph` names Ceph):
 *
 *   LEDGE_S3_ENDPOINT=http://127.0.0.1:PORT  LEDGE_S3_ACCESS_KEY_ID=…  LEDGE_S3_SECRET_ACCESS_KEY=…
 */
import { beforeAll } from "vitest";
import type { RunningS3 } from "../../dist/index.js";
import { removePrefix } from "../../src/store/node/remote-buckets.ts";
import { useS3 } from "../s3/support/running-s3.ts";
import { S3TestClient } from "../s3/support/s3-client.ts";

export interface S3Service {
  readonly server: Pick<RunningS3, "port" | "credentials">;
  readonly client: S3TestClient;
}

/** Whether the service is our own endpoint. Expectations name where Ceph deviates from it. */
export const isOwnService = process.env["LEDGE_S3_ENDPOINT"] === undefined;

/** A service with an empty bucket, for the tests of one file. The client is there before the first test. */
export function useS3Service(bucketName: string): S3Service {
  const { env } = process;
  const endpoint = env["LEDGE_S3_ENDPOINT"];
  if (endpoint === undefined) return useS3({ buckets: [{ name: bucketName }] });
  const server = {
    port: Number(new URL(endpoint).port),
    credentials: {
      accessKeyId: env["LEDGE_S3_ACCESS_KEY_ID"] ?? "",
      secretAccessKey: env["LEDGE_S3_SECRET_ACCESS_KEY"] ?? "",
    },
  };
  const client = new S3TestClient(server);
  beforeAll(() => emptyBucket(client, server, bucketName));
  return { server, client };
}

/** Creates the bucket, or removes what an earlier file has left. */
async function emptyBucket(
  client: S3TestClient,
  { port, credentials }: S3Service["server"],
  bucketName: string,
): Promise<void> {
  const created = await client.send({ method: "PUT", target: `/${bucketName}` });
  if (created.status !== 200) throw new Error(`Bucket "${bucketName}": ${created.text}`);
  const endpoint = `http://localhost:${port}`;
  const place = { remote: "cluster", endpoint, region: "us-east-1", bucketName, prefix: "" };
  await removePrefix(place, credentials);
}
