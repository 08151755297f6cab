/** How far a transfer is: a line that changes, on a terminal; nothing elsewhere. */
import { formatBytes } from "./format.ts";

const redrawMilliseconds = 100;
const barWidth = 24;

export class Progress {
  readonly #label: string;
  readonly #stream: NodeJS.WriteStream | null;
  #total: number | null;
  #done = 0;
  #bytes = 0;
  #drawn = 0;

  constructor(label: string, total: number | null, stream: NodeJS.WriteStream = process.stderr) {
    this.#label = label;
    this.#total = total;
    this.#stream = stream.isTTY ? stream : null;
  }

  set total(total: number) {
    this.#total = total;
  }

  add(bytes: number): void {
    this.#done++;
    this.#bytes += bytes;
    const now = Date.now();
    if (this.#stream === null || now - this.#drawn < redrawMilliseconds) return;
    this.#drawn = now;
    this.#stream.write(
      `\r\u001b[K${progressLine(this.#label, this.#done, this.#total, this.#bytes)}`,
    );
  }

  /** Takes the line away: what was done is said elsewhere. */
  end(): void {
    if (this.#drawn > 0) this.#stream?.write("\r\u001b[K");
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
