/** The buckets of a process that are on S3 services: they share connections and a folder for large content. */
import { isDeepStrictEqual } from "node:util";
import { requireBucket } from "../remote/probe.ts";
import { RemoteBucket } from "../remote/remote-bucket.ts";
import { RemoteError } from "../remote/s3-transport.ts";
import { noFeatures, type RemoteFeatures, type RemoteAccess } from "../remote/remote-options.ts";
import { missingKeysSentence } from "../remote/remote-sentences.ts";
import { S3Connection } from "../remote/s3-connection.ts";
import { createHttpTransport } from "./http-transport.ts";
import { probeRemote } from "./probed-remotes.ts";
import { RemoteClientBucket, RemoteUnusableError } from "./remote-client-bucket.ts";
import { SpoolFolder } from "./spool-folder.ts";

interface KnownRemote {
  readonly access: RemoteAccess;
  readonly bucket: RemoteClientBucket;
}

export class RemoteBuckets {
  readonly #transport = createHttpTransport();
  readonly #spool = new SpoolFolder();
  readonly #known = new Map<string, KnownRemote>();

  /** @param access may differ from that of an earlier call, when the configuration has changed */
  bucket(name: string, access: RemoteAccess): RemoteClientBucket {
    const known = this.#known.get(name);
    if (known !== undefined && isDeepStrictEqual(known.access, access)) return known.bucket;
    const { credentials, accept: _accept, ...place } = access;
    const connection = new S3Connection(place, credentials, this.#transport.send);
    const open = (features: RemoteFeatures) =>
      new RemoteBucket({ connection, features, spool: this.#spool });
    const bucket = new RemoteClientBucket({
      name,
      place,
      spool: this.#spool,
      reader: untilSuccess(async () => {
        requireKeys(access);
        await usable(requireBucket(connection));
        return open(noFeatures);
      }),
      writer: untilSuccess(async () => {
        requireKeys(access);
        return open(await usable(probeRemote(access, this.#transport.send)));
      }),
    });
    this.#known.set(name, { access, bucket });
    return bucket;
  }

  async close(): Promise<void> {
    this.#transport.close();
    await this.#spool.close();
  }
}

/** Calls that come meanwhile and later have the result of the first call. A call after a failure begins again. */
function untilSuccess<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let result: Promise<Value> | undefined;
  return () => {
    if (result === undefined) {
      result = work();
      result.catch(() => (result = undefined));
    }
    return result;
  };
}

/**
 * A configuration that was read for buckets of the state folder may lack the keys of remotes.
 *
 * @throws RemoteUnusableError
 */
function requireKeys(access: RemoteAccess): void {
  if (access.credentials.accessKeyId === "") {
    throw new RemoteUnusableError(missingKeysSentence(access));
  }
}

/** @throws RemoteUnusableError */
async function usable<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof RemoteError ? new RemoteUnusableError(error.message) : error;
  }
}
