/** The progress of a command: one line that changes on a terminal, and nothing elsewhere. */
import { formatBytes } from "./format.ts";

const redrawMilliseconds = 100;
const barWidth = 24;
/** ECMA-48: to the first column, and erase the line. */
const eraseLine = "\r\u001b[K";

export class Progress {
  readonly #label: string;
  readonly #stream = process.stderr.isTTY ? process.stderr : null;
  #total: number | null;
  #done = 0;
  #bytes = 0;
  #drawnAt = 0;

  constructor(label = "", total: number | null = null) {
    this.#label = label;
    this.#total = total;
  }

  set total(total: number) {
    this.#total = total;
  }

  /** Counts a file that was transferred. */
  add(bytes: number): void {
    this.#done++;
    this.#bytes += bytes;
    if (Date.now() - this.#drawnAt < redrawMilliseconds) return;
    this.show(progressLine(this.#label, this.#done, this.#total, this.#bytes));
  }

  /** Shows a text instead of the count. */
  show(text: string): void {
    this.#drawnAt = Date.now();
    this.#stream?.write(`${eraseLine}${text}`);
  }

  /** Removes the line: the command prints its result itself. */
  end(): void {
    if (this.#drawnAt > 0) this.#stream?.write(eraseLine);
  }
}

export function progressLine(
  label: string,
  done: number,
  total: number | null,
  bytes: number,
): string {
  if (total === null || total === 0) return `${label} ${done} files, ${formatBytes(bytes)}`;
  const share = Math.min(done / total, 1);
  const filled = Math.round(share * barWidth);
  const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
  return `${label} ${bar} ${Math.floor(share * 100)}%  ${done} of ${total}, ${formatBytes(bytes)}`;
}
