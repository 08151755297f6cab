/** The buckets of the state folder, for a command. The connection to their owner is made for the first. */
import { ContentFiles } from "../../store/node/content-files.ts";
import { EndpointBucket } from "../../store/node/endpoint-bucket.ts";
import { OwnerConnection } from "../../store/node/owner-connection.ts";

export class LocalBuckets {
  readonly #folder: string;
  #opened: { readonly connection: OwnerConnection; readonly contents: ContentFiles } | undefined;

  /** @param folder of the store */
  constructor(folder: string) {
    this.#folder = folder;
  }

  bucket(name: string): EndpointBucket {
    this.#opened ??= {
      connection: new OwnerConnection(this.#folder, { clientName: "command line" }),
      contents: new ContentFiles(this.#folder),
    };
    return new EndpointBucket(this.#opened.connection, name, this.#opened.contents);
  }

  async close(): Promise<void> {
    await this.#opened?.connection.close();
    this.#opened?.contents.close();
  }
}
