/**
 * Buffers that are used again. A buffer of this size for each read or write is garbage of as many
 * bytes as the content: the collector would take more time than the copy.
 */
export class ReusedMemory {
  readonly #bytes: number;
  readonly #keptMax: number;
  readonly #free: Buffer<ArrayBuffer>[] = [];

  /** @param keptMax how many buffers stay allocated while no caller uses them */
  constructor(bytes: number, keptMax: number) {
    this.#bytes = bytes;
    this.#keptMax = keptMax;
  }

  /** The content of the buffer is not defined. */
  take(): Buffer<ArrayBuffer> {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#bytes);
  }

  /** The caller neither reads nor writes the buffer any more, nor does a system call. */
  giveBack(memory: Buffer<ArrayBuffer>): void {
    if (this.#free.length < this.#keptMax) this.#free.push(memory);
  }
}
