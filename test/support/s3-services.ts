/**
 * The S3 service that tests of remote buckets use: our own endpoint, or the service that the environment
 * names (`npm run test:peers` names Ceph):
 *
 *   LEDGE_S3_ENDPOINT=http://127.0.0.1:PORT  LEDGE_S3_ACCESS_KEY_ID=…  LEDGE_S3_SECRET_ACCESS_KEY=…
 */
import { beforeAll } from "vitest";
import type { RunningS3 } from "../../dist/index.js";
import { encodeComponent } from "../../src/http/uri.ts";
import { childText, readXml } from "../../src/http/xml.ts";
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
  beforeAll(() => emptyBucket(client, bucketName));
  return { server, client };
}

/** Creates the bucket, or removes what an earlier file has left. */
async function emptyBucket(client: S3TestClient, name: string): Promise<void> {
  const created = await client.send({ method: "PUT", target: `/${name}` });
  if (created.status !== 200) throw new Error(`Bucket "${name}": ${created.text}`);
  await removeListed(client, name, "encoding-type=url&list-type=2", "Contents");
  await removeListed(client, name, "uploads=", "Upload");
}

/** Removes the objects or the uploads of a list, a page at a time. */
async function removeListed(
  client: S3TestClient,
  name: string,
  query: string,
  element: string,
): Promise<void> {
  for (;;) {
    const list = readXml((await client.send({ target: `/${name}?${query}` })).text);
    const entries = list.children.filter((child) => child.name === element);
    if (entries.length === 0) return;
    for (const entry of entries) {
      const listed = childText(entry, "Key") ?? "";
      const key = element === "Contents" ? decodeURIComponent(listed) : listed;
      const path = `/${name}/${key.split("/").map(encodeComponent).join("/")}`;
      const uploadId = childText(entry, "UploadId");
      const target = uploadId === null ? path : `${path}?uploadId=${encodeComponent(uploadId)}`;
      const deleted = await client.send({ method: "DELETE", target });
      if (deleted.status !== 204) throw new Error(`${target} was not removed: ${deleted.text}`);
    }
  }
}
