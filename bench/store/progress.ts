/** The current measurement: one changing line on a terminal, and a line for each elsewhere. */
export class Progress {
  readonly #total: number;
  readonly #started = performance.now();
  #done = 0;

  constructor(total: number) {
    this.#total = total;
  }

  step(name: string): void {
    this.#done++;
    const seconds = Math.round((performance.now() - this.#started) / 1000);
    const line = `[${this.#done}/${this.#total}] ${seconds} s  ${name}`;
    process.stderr.write(process.stderr.isTTY ? `\r\x1b[2K${line}` : `${line}\n`);
  }

  end(): void {
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K");
  }
}
