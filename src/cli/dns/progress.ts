/** How far a long piece of work is: a line that changes, on a terminal; nothing elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream | null;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream.isTTY ? stream : null;
  }

  show(text: string): void {
    this.#stream?.write(`\r\u001b[K${text}`);
  }

  /** Takes the line away: what was done is said elsewhere. */
  end(): void {
    this.#stream?.write("\r\u001b[K");
  }
}
