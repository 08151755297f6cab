/** The figures of a run as a table (`figures.ts`). */
import { addFigures, noFigures, type Figures } from "./figures.ts";

const columns: readonly [title: string, name: keyof Figures][] = [
  ["kills", "kills"],
  ["acknowledged", "acknowledged"],
  ["lost", "lost"],
  ["wrong", "wrong"],
  ["orphans", "orphans"],
  ["processes left", "processesLeft"],
];

/** @param lines JSON, an object a line */
export function formatTable(lines: string): string {
  const entries = lines
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Partial<Figures> & { readonly suite: string })
    .toSorted((left, right) => (left.suite < right.suite ? -1 : 1));
  const total = noFigures();
  for (const entry of entries) addFigures(total, entry);
  const rows = [...entries, { suite: "total", ...total }].map((entry) => [
    entry.suite,
    ...columns.map(([, name]) => String(entry[name] ?? 0)),
  ]);
  const table = [["suite", ...columns.map(([title]) => title)], ...rows];
  const widths = table[0]!.map((_, index) => Math.max(...table.map((row) => row[index]!.length)));
  return table
    .map((row) =>
      row
        .map((cell, index) =>
          index === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[index]!),
        )
        .join("  "),
    )
    .join("\n");
}
