/** s3rver, an S3 server in Node that keeps objects in files. It is installed beside the project (`bench/README.md`). */
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { serveUntilEnd } from "../server-process.ts";
import { s3rverFolder } from "../s3rver.ts";

interface S3rver {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

type S3rverClass = new (options: Readonly<Record<string, unknown>>) => S3rver;

const S3rver = createRequire(s3rverFolder)("s3rver") as S3rverClass;
const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory: process.argv[2],
  configureBuckets: [{ name: "bench" }],
});
const { port } = await server.run();
// The only credentials that s3rver knows.
const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
// A delete fails with 500 if another delete removes the empty folder at the same time.
await serveUntilEnd({ port, path: "/bench", ...credentials, deletesAtOnce: 1 });
await server.close();
