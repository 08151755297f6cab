/** The spool of a remote bucket in workerd: files of a disk service. */
import type { BlobDirectory } from "../content/blob-directory.ts";
import type { Spool } from "../remote/remote-context.ts";

export class DiskSpool implements Spool {
  readonly #blobs: BlobDirectory;

  constructor(blobs: BlobDirectory) {
    this.#blobs = blobs;
  }

  open(blob: string, size: number): Promise<ReadableStream<Uint8Array>> {
    return this.#blobs.read({ blob, blobSize: size, offset: 0, length: size });
  }

  remove(blob: string): Promise<void> {
    return this.#blobs.remove(blob);
  }
}
