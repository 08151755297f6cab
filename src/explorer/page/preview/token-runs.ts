/** Highlighted text, as runs of one tone. The text of all runs together is the source. */
export type Tone = "comment" | "keyword" | "string" | "number" | "title" | "attribute" | "meta";

export interface TokenRun {
  readonly text: string;
  readonly tone: Tone | null;
}

export class TokenRuns {
  readonly #runs: { text: string; readonly tone: Tone | null }[] = [];

  get list(): readonly TokenRun[] {
    return this.#runs;
  }

  add(text: string, tone: Tone | null): void {
    if (text === "") return;
    const last = this.#runs.at(-1);
    if (last !== undefined && last.tone === tone) last.text += text;
    else this.#runs.push({ text, tone });
  }
}
