/** A remote bucket in Node, for tests: on our own S3-compatible API, with a spool in memory. */
import { hash } from "node:crypto";
import type { RunningS3 } from "../../../dist/index.js";
import { createHttpTransport } from "../../../src/store/node/http-transport.ts";
import type { Method } from "../../../src/store/core/errors.ts";
import type { Content, Request, Result } from "../../../src/store/core/operations.ts";
import { RemoteBucket } from "../../../src/store/remote/remote-bucket.ts";
import type { RemoteFeatures } from "../../../src/store/remote/remote-options.ts";
import { S3Connection } from "../../../src/store/remote/s3-connection.ts";
import type { S3Transport } from "../../../src/store/remote/s3-transport.ts";
import type { Spool } from "../../../src/store/remote/remote-context.ts";

/** What our own API honours. */
export const allFeatures: RemoteFeatures = {
  putIfMatch: "quoted",
  putIfNoneMatch: true,
  conditionalComplete: true,
  conditionalDelete: true,
  unconditionalPut: "unequal tag",
  unconditionalDelete: true,
  etagIsMd5: true,
  service: { server: "", versioning: "off" },
  seen: {},
};

class MemorySpool implements Spool {
  readonly files = new Map<string, Uint8Array>();

  async open(blob: string, size: number): Promise<ReadableStream<Uint8Array>> {
    const bytes = this.files.get(blob);
    if (bytes?.length !== size) throw new Error(`There is no file "${blob}" of ${size} bytes.`);
    return new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
  }

  async remove(blob: string): Promise<void> {
    this.files.delete(blob);
  }

  /** Content in a file of the spool. */
  write(bytes: Uint8Array): Content {
    const blob = `file-${this.files.size}`;
    this.files.set(blob, bytes);
    return { blob, size: bytes.length, checksums: { md5: hash("md5", bytes) } };
  }
}

export interface RemoteStore {
  readonly bucket: RemoteBucket;
  readonly spool: MemorySpool;
  close(): void;
}

/** @param around wraps the transport, to count or to break requests */
export function openRemote(
  server: Pick<RunningS3, "port" | "credentials">,
  bucketName: string,
  {
    around = (transport) => transport,
    features = allFeatures,
    prefix = "",
    now = () => Date.now(),
  }: {
    readonly around?: (transport: S3Transport) => S3Transport;
    readonly features?: RemoteFeatures;
    readonly prefix?: string;
    readonly now?: () => number;
  } = {},
): RemoteStore {
  const transport = createHttpTransport();
  const connection = new S3Connection(
    {
      remote: "cluster",
      endpoint: `http://localhost:${server.port}`,
      region: "us-east-1",
      bucketName,
      prefix,
    },
    server.credentials,
    around(transport.send),
  );
  const spool = new MemorySpool();
  const bucket = new RemoteBucket({ connection, features, spool, now });
  return { bucket, spool, close: () => transport.close() };
}

export function contentOf(text: string): Content {
  return { bytes: new TextEncoder().encode(text), checksums: { md5: hash("md5", text) } };
}

/** Executes an operation. A refusal rejects, with its code. */
export async function callRemote<M extends Exclude<Method, "get">>(
  { bucket }: Pick<RemoteStore, "bucket">,
  request: Request<M>,
): Promise<Result<M>> {
  const outcome = await bucket.execute<M>(request);
  if (outcome.ok) return outcome.value;
  throw Object.assign(new Error(outcome.text), { code: outcome.code });
}
