/** The progress of a command: one line that changes on a terminal, and nothing elsewhere. */
import { escapeControls, formatBytes } from "./format.ts";

const redrawMilliseconds = 100;
const barWidth = 24;
/** A terminal that does not tell its size has 0 columns. */
const columnsDefault = 80;
/** ECMA-48: to the first column, and erase the line. */
const eraseLine = "\r\u001b[K";

/** Counts files (`add()`), or the bytes of one file (`moveTo()`). */
export class Progress {
  /** `null` while the total is not known. */
  total: number | null;
  readonly #label: string;
  readonly #stream = process.stderr.isTTY ? process.stderr : null;
  #drawnAt = 0;
  #done = 0;
  #bytes = 0;

  constructor(label = "", total: number | null = null) {
    this.#label = escapeControls(label);
    this.total = total;
  }

  /** Counts a file that was transferred. */
  add(bytes: number): void {
    this.#done++;
    this.#bytes += bytes;
    this.#redraw(() => progressLine(this.#label, this.#done, this.total, this.#bytes));
  }

  /** @param bytes all bytes that were transferred so far */
  moveTo(bytes: number): void {
    this.#redraw(() => byteProgressLine(this.#label, bytes, this.total ?? 0));
  }

  /** Removes the line. */
  end(): void {
    if (this.#drawnAt > 0) this.#stream?.write(eraseLine);
  }

  /** Shows a text at once. */
  show(text: string): void {
    this.#drawnAt = Date.now();
    this.#stream?.write(`${eraseLine}${oneLine(text, this.#stream.columns)}`);
  }

  /** Shows a text, unless the line has just changed. */
  #redraw(text: () => string): void {
    if (Date.now() - this.#drawnAt >= redrawMilliseconds) this.show(text());
  }
}

/** The text as far as it fits into one line of a terminal: only such a text can be erased. */
export function oneLine(text: string, columns: number): string {
  return text.slice(0, (columns || columnsDefault) - 1);
}

export function progressLine(
  label: string,
  done: number,
  total: number | null,
  bytes: number,
): string {
  if (total === null || total === 0) return `${label} ${done} files, ${formatBytes(bytes)}`;
  return `${label} ${bar(done, total)}  ${done} of ${total}, ${formatBytes(bytes)}`;
}

export function byteProgressLine(label: string, bytes: number, total: number): string {
  return `${label} ${bar(bytes, total)}  ${formatBytes(bytes)} of ${formatBytes(total)}`;
}

function bar(done: number, total: number): string {
  const share = Math.min(done / total, 1);
  const filled = Math.round(share * barWidth);
  return `${"█".repeat(filled)}${"░".repeat(barWidth - filled)} ${Math.floor(share * 100)}%`;
}
