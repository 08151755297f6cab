/** Connections of tests to S3 services, by Node's transport. */
import { Readable } from "node:stream";
import { expect } from "vitest";
import { createHttpTransport } from "../../../src/store/node/http-transport.ts";
import type { RemoteError } from "../../../src/store/remote/s3-transport.ts";
import type { RemoteCredentials, RemotePlace } from "../../../src/store/remote/remote-options.ts";
import {
  S3Connection,
  type S3ConnectionOptions,
  type S3Request,
} from "../../../src/store/remote/s3-connection.ts";

export const transport: ReturnType<typeof createHttpTransport> = createHttpTransport();

/** Retries follow each other at once. */
export function connectTo(
  place: Partial<RemotePlace> & Pick<RemotePlace, "endpoint">,
  credentials: RemoteCredentials = { accessKeyId: "id", secretAccessKey: "secret" },
  options: S3ConnectionOptions = {},
): S3Connection {
  return new S3Connection(
    { remote: "cluster", region: "us-east-1", bucketName: "photos", prefix: "", ...place },
    credentials,
    transport.send,
    { sleep: () => Promise.resolve(), ...options },
  );
}

export const encode = (text: string) => new TextEncoder().encode(text);
export const textOf = (body: ReadableStream<Uint8Array> | null) => new Response(body).text();
export const streamOf = (chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) =>
  Readable.toWeb(Readable.from(chunks, { objectMode: false })) as ReadableStream<Uint8Array>;

export const get: S3Request = { method: "GET", key: "a" };
export const put: S3Request = { method: "PUT", key: "a", body: encode("content") };

export async function failureOf(work: Promise<unknown>): Promise<RemoteError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: "RemoteError" });
  return error as RemoteError;
}
