/**
 * Where large content waits until it is sent: a disk service of workerd, or a folder of Node. An
 * operation names its content by `blob` (`core/operations.ts`); each attempt opens the content again.
 */
export interface Spool {
  open(blob: string, size: number): Promise<ReadableStream<Uint8Array>>;
  /** Does nothing when there is no such file. */
  remove(blob: string): Promise<void>;
}
