/**
 * Large content on its way to an S3 service: files in a private temporary folder, which is made for the
 * first file and removed at the end. Its name has the id of the process: the next process removes folders of
 * processes that were killed.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeLeftFolders } from "../../base/process-folders.ts";
import type { Content } from "../core/operations.ts";
import type { Spool } from "../remote/remote-context.ts";
import { ContentNotWrittenError, writeContent, type WriteOptions } from "./written-content.ts";

const readBytes = 256 * 1024;

export class SpoolFolder implements Spool {
  #folder: string | undefined;
  /** Told how much of a file has been sent. */
  readonly #followers = new Map<string, (count: number) => void>();

  /** @throws StoreError 100100, ContentNotWrittenError, or the error of the body or of `verify` */
  write(body: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<Content> {
    const place = () => ({ folder: this.#made(), name: randomBytes(16).toString("hex") });
    return writeContent(body, place, options);
  }

  /** @param onBytes is called with the number of bytes that have been sent; a repetition starts again */
  follow(content: Content, onBytes: (count: number) => void): void {
    if ("blob" in content) this.#followers.set(content.blob, onBytes);
  }

  async open(blob: string, size: number): Promise<ReadableStream<Uint8Array>> {
    const onBytes = this.#followers.get(blob);
    const file = await open(this.#path(blob));
    let position = 0;
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const length = Math.min(readBytes, size - position);
          const { bytesRead, buffer } = await file.read(
            new Uint8Array(length),
            0,
            length,
            position,
          );
          position += bytesRead;
          if (bytesRead === 0 && position < size) throw new Error("A spooled file is too short.");
          if (bytesRead > 0) controller.enqueue(buffer.subarray(0, bytesRead));
          onBytes?.(position);
          if (position < size) return;
          await file.close();
          controller.close();
        },
        cancel: () => file.close(),
      },
      { highWaterMark: 1 },
    );
  }

  async remove(blob: string): Promise<void> {
    this.#followers.delete(blob);
    if (this.#folder !== undefined) await rm(this.#path(blob), { force: true });
  }

  async close(): Promise<void> {
    const folder = this.#folder;
    this.#folder = undefined;
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }

  #path(blob: string): string {
    return join(this.#made(), blob);
  }

  /** @throws ContentNotWrittenError */
  #made(): string {
    try {
      if (this.#folder === undefined) {
        removeLeftFolders(tmpdir(), /^ledge-spool-(\d+)-/);
        // With mode 0700.
        this.#folder = mkdtempSync(join(tmpdir(), `ledge-spool-${process.pid}-`));
      }
      return this.#folder;
    } catch (error) {
      throw new ContentNotWrittenError(0, error as NodeJS.ErrnoException);
    }
  }
}
