/**
 * A bucket at the owner's endpoint, for a command. The owner stores the content of a file that a command
 * puts. Content whose checksums only the S3-compatible interface shows is stored by this process, which
 * can compute them.
 */
import { hash, randomUUID } from "node:crypto";
import { UserError } from "../../base/user-error.ts";
import { damagedError } from "../client/failure.ts";
import { BlobDamagedError } from "../core/content.ts";
import { requiredAlgorithms, type Checksums } from "../core/checksum.ts";
import { inlineBytesMax, uploadBytesMax } from "../core/limits.ts";
import type { PartReference } from "../core/multipart.ts";
import { decodeObject } from "../core/object.ts";
import type { ObjectRecord } from "../core/operations.ts";
import { requestHeader } from "../client/message.ts";
import { CommandBucket, type FetchedObject, type NewObject } from "./command-bucket.ts";
import type { ContentFiles } from "./content-files.ts";
import { largePartBytes, type FileContent } from "./file-content.ts";
import { OwnedBucket } from "./owned-bucket.ts";
import type { OwnerConnection } from "./owner-connection.ts";

/** How often a `get` is repeated when the object is replaced between its row and its files. */
const attemptsMax = 100;

export class EndpointBucket extends CommandBucket {
  readonly #owner: OwnerConnection;

  /** @param contents is closed by the caller */
  constructor(owner: OwnerConnection, name: string, contents: ContentFiles) {
    super(new OwnedBucket({ owner, contents, name, isDeletable: false }));
    this.#owner = owner;
  }

  override async put(
    object: NewObject,
    file: FileContent,
    onBytes?: (count: number) => void,
  ): Promise<ObjectRecord> {
    const { checksum, ...description } = object;
    if (file.size > uploadBytesMax) {
      return this.putParts(description, undefined, async (reference) => {
        const parts: PartReference[] = [];
        for (const range of file.parts(largePartBytes)) {
          const part = { ...reference, partNumber: parts.length + 1 };
          parts.push(await this.#send<PartReference>("part", part, file, range, onBytes));
        }
        return parts;
      });
    }
    if (file.size > inlineBytesMax) {
      const whole = { start: 0, length: file.size };
      return this.#send("put", object, file, whole, onBytes);
    }
    const bytes = file.bytes();
    const checksums: Checksums = Object.fromEntries(
      requiredAlgorithms(checksum).map((algorithm) => [algorithm, hash(algorithm, bytes)]),
    );
    const text = await this.call({ method: "put", ...object, content: { bytes, checksums } });
    // A put without a condition never returns `null`.
    return decodeObject(object.key, text as string);
  }

  /** Calls `receive` again if the object is replaced before all of its files are open. */
  override async get<Received>(
    key: string,
    receive: (fetched: FetchedObject) => Promise<Received>,
  ): Promise<Received | null> {
    let damaged: { readonly version: string; readonly error: BlobDamagedError } | undefined;
    for (let attempt = 1; ; attempt++) {
      let version = "";
      try {
        return await super.get(key, (fetched) => {
          ({ version } = fetched.object);
          if (damaged !== undefined && (damaged.version === version || attempt > attemptsMax)) {
            throw new UserError(damagedError(key, damaged.error).message);
          }
          return receive(fetched);
        });
      } catch (error) {
        if (!(error instanceof BlobDamagedError)) throw error;
        // The object may have been replaced since the answer; then its old files are removed.
        damaged = { version, error };
      }
    }
  }

  collectGarbage(): Promise<number> {
    return this.#owner.run((endpoint) => endpoint.requestJson(`/collect/${this.name}`));
  }

  /** The name of the file of the bucket's database, without its extension. */
  databaseName(): Promise<string> {
    return this.#owner.run((endpoint) =>
      endpoint.requestText(`/database/${this.name}`, { method: "GET" }),
    );
  }

  #send<Value = ObjectRecord>(
    action: "put" | "part",
    description: object,
    file: FileContent,
    { start, length }: { readonly start: number; readonly length: number },
    onBytes?: (count: number) => void,
  ): Promise<Value> {
    const id = randomUUID();
    const header = Buffer.from(JSON.stringify(description)).toString("base64");
    return this.#owner.run((endpoint) =>
      endpoint.requestJson(`/${action}/${this.name}`, {
        id,
        headers: { [requestHeader]: header },
        content: { stream: file.stream(start, length, onBytes), length },
      }),
    );
  }
}
