/** Removes everything below the prefix of a bucket on an S3 service: objects, and uploads in progress. */
import type { Method } from "../core/errors.ts";
import { deleteKeysMax } from "../core/limits.ts";
import { decodeObjects } from "../core/object.ts";
import type { Request, Result } from "../core/operations.ts";
import { RemoteBucket } from "../remote/remote-bucket.ts";
import { noFeatures, type RemoteCredentials, type RemotePlace } from "../remote/remote-options.ts";
import { S3Connection } from "../remote/s3-connection.ts";
import { createHttpTransport } from "./http-transport.ts";

/** Nothing is put here. */
const spool = {
  open: () => Promise.reject(new Error("There is no content.")),
  remove: () => Promise.resolve(),
};

/** @throws Error with the service's reason */
export async function removePrefix(
  place: RemotePlace,
  credentials: RemoteCredentials,
): Promise<void> {
  const transport = createHttpTransport();
  const connection = new S3Connection(place, credentials, transport.send);
  const bucket = new RemoteBucket({
    connection,
    features: noFeatures,
    spool,
  });
  const call = async <M extends Exclude<Method, "get">>(
    request: Request<M>,
  ): Promise<Result<M>> => {
    const outcome = await bucket.execute(request);
    if (outcome.ok) return outcome.value;
    throw new Error(outcome.text);
  };
  try {
    for (;;) {
      const { uploads } = await call({ method: "listUploads", prefix: "", limit: deleteKeysMax });
      if (uploads.length === 0) break;
      for (const { key, uploadId } of uploads) {
        await call({ method: "abortUpload", key, uploadId });
      }
    }
    for (;;) {
      const { objectsJson } = await call({ method: "list", ...firstPage });
      const objects = decodeObjects(objectsJson, { http: false, custom: false });
      if (objects.length === 0) return;
      await call({ method: "delete", keys: objects.map(({ key }) => key) });
    }
  } finally {
    transport.close();
  }
}

const firstPage = {
  prefix: "",
  delimiter: "",
  limit: deleteKeysMax,
  includeHttp: false,
  includeCustom: false,
};
