/**
 * The same workload by the AWS SDK, in a process of its own. The process is asked by HTTP, as the script is. Argument:
 * the service, as JSON. The first line of the output is the address.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import type { BenchService } from "./service.ts";
import { handleMessage, type Client, type Message } from "./workload.ts";

const service = JSON.parse(process.argv[2] as string) as BenchService;
const { endpoint, accessKeyId, secretAccessKey, bucketName: Bucket } = service;
const s3 = new S3Client({
  endpoint,
  region: "us-east-1",
  forcePathStyle: true,
  credentials: { accessKeyId, secretAccessKey },
});

const client: Client = {
  async head(Key) {
    await s3.send(new HeadObjectCommand({ Bucket, Key }));
  },
  async get(Key) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    return (await Body?.transformToByteArray())?.length ?? 0;
  },
  async getStream(Key) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    let size = 0;
    for await (const chunk of Body as Readable) size += (chunk as Uint8Array).length;
    return size;
  },
  put: async (Key, Body) => etagOf(await s3.send(new PutObjectCommand({ Bucket, Key, Body }))),
  putIf: async (Key, Body, IfMatch) =>
    etagOf(await s3.send(new PutObjectCommand({ Bucket, Key, Body, IfMatch }))),
  async putStream(Key, ContentLength, chunks) {
    const Body = Readable.from(chunks);
    await s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength }));
  },
  async delete(Key) {
    await s3.send(new DeleteObjectCommand({ Bucket, Key }));
  },
  list: async (Prefix) =>
    (await s3.send(new ListObjectsV2Command({ Bucket, Prefix }))).Contents?.length ?? 0,
};

const etagOf = ({ ETag }: { ETag?: string | undefined }): string => ETag ?? "";

const server = createServer((request, response) => {
  void (async () => {
    try {
      await handleMessage(client, (await json(request)) as Message);
      response.end();
    } catch (error) {
      response.writeHead(500).end((error as Error).stack);
    }
  })();
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
process.stdin.resume();
await once(process.stdin, "end");
process.exit();
