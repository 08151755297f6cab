/** A unified diff of two texts, for people who review the edits of `ledge init`. */
import type { FileEdit } from "./edit.ts";

interface Line {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** Unchanged lines around a change. */
const contextLines = 3;

export function renderDiff({ path, before, after }: FileEdit): string {
  const lines = diffLines(splitLines(before ?? ""), splitLines(after));
  const header = before === null ? [`new file ${path}`] : [`--- ${path}`, `+++ ${path}`];
  const shown = before === null ? lines.map(render) : hunks(lines);
  return [...header, ...shown].join("\n");
}

function splitLines(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The longest common subsequence of lines stays; the files are small. */
function diffLines(before: readonly string[], after: readonly string[]): Line[] {
  const lengths = before.map(() => new Uint32Array(after.length + 1));
  lengths.push(new Uint32Array(after.length + 1));
  const lengthAt = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      (lengths[row] as Uint32Array)[column] =
        before[row] === after[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    if (row < before.length && column < after.length && before[row] === after[column]) {
      lines.push({ sign: " ", text: before[row++] as string });
      column++;
    } else if (row < before.length && lengthAt(row + 1, column) >= lengthAt(row, column + 1)) {
      lines.push({ sign: "-", text: before[row++] as string });
    } else {
      lines.push({ sign: "+", text: after[column++] as string });
    }
  }
  return lines;
}

/** The changed lines with their context; `…` stands for lines that are left out. */
function hunks(lines: readonly Line[]): string[] {
  const isShown = lines.map((_, index) =>
    lines
      .slice(Math.max(0, index - contextLines), index + contextLines + 1)
      .some(({ sign }) => sign !== " "),
  );
  return lines.flatMap((line, index) => {
    if (isShown[index] === true) return [render(line)];
    return index === 0 || isShown[index - 1] === true ? ["…"] : [];
  });
}

function render({ sign, text }: Line): string {
  return `${sign}${text}`;
}
