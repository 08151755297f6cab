/**
 * Figures of a suite, which `npm run test:long -- faults` adds up and prints. A run without the command
 * writes no file.
 */
import { appendFileSync } from "node:fs";

export interface Figures {
  kills: number;
  /** Writes that were acknowledged to a writer. */
  acknowledged: number;
  /** Acknowledged writes that a later reader did not find. */
  lost: number;
  /** Objects with bytes that no writer wrote, and rows without their file. */
  wrong: number;
  /** Files without a row, after the collection of garbage. */
  orphans: number;
  /** Processes of an earlier owner that run beside the next owner. */
  processesLeft: number;
}

export function noFigures(): Figures {
  return { kills: 0, acknowledged: 0, lost: 0, wrong: 0, orphans: 0, processesLeft: 0 };
}

export function addFigures(total: Figures, added: Partial<Figures>): void {
  for (const name of Object.keys(total) as (keyof Figures)[]) total[name] += added[name] ?? 0;
}

/** @param suite the name of the row in the table, such as `crash: ledge dev, parent` */
export function reportFigures(suite: string, figures: Partial<Figures>): void {
  const path = process.env["LEDGE_FIGURES"];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify({ suite, ...figures })}\n`);
}

/** The figures of a run as a table (`figures.ts`). */

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
