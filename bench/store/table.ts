/** Results as text tables. */
import { passes, type Check } from "./check.ts";
import type { Measured } from "./measure.ts";

export function ratioOf({ milliseconds }: Measured): number | undefined {
  const { ours, r2 } = milliseconds;
  return ours === undefined || r2 === undefined || ours === 0 ? undefined : r2 / ours;
}

export function formatTime(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return "";
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  if (milliseconds >= 1) return `${milliseconds.toPrecision(3)} ms`;
  return `${(milliseconds * 1000).toPrecision(3).replace(/e.*/, "")} µs`;
}

function formatRatio(ratio: number | undefined): string {
  if (ratio === undefined) return "";
  return ratio >= 100 ? ratio.toFixed(0) : ratio.toFixed(1);
}

const mark = (good: boolean) => (good ? "✓" : "✗");

/** Aligns columns by their widest text: the first column to the left, the others to the right. */
function align(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? "").length)),
  );
  return lines
    .map((line) =>
      line
        .map((text, column) => {
          const width = widths?.[column] ?? 0;
          return column === 0 ? text.padEnd(width) : text.padStart(width);
        })
        .join("   ")
        .trimEnd(),
    )
    .join("\n");
}

export function rowTable(rows: readonly Measured[]): string {
  const lines = rows.map((row) => {
    const { ours, r2, floor } = row.milliseconds;
    const ratio = ratioOf(row);
    const target =
      row.target === undefined ? "" : `≥ ${row.target} ${mark((ratio ?? 0) >= row.target)}`;
    return [
      row.name,
      formatTime(ours),
      formatTime(r2),
      formatTime(floor),
      formatRatio(ratio),
      target,
    ];
  });
  return align([["operation", "ours", "R2", "floor", "R2/ours", "target"], ...lines]);
}

const formatValue = (value: number | undefined, unit: Check["unit"]) =>
  value === undefined ? "" : `${value.toFixed(unit === "×" ? 2 : 0)} ${unit}`;

export function checkTable(checks: readonly Check[]): string {
  const lines = checks.map((check) => [
    check.name,
    formatValue(check.ours, check.unit),
    formatValue(check.r2, check.unit),
    `≤ ${formatValue(check.limit, check.unit)} ${mark(passes(check))}`,
  ]);
  return align([["also", "ours", "R2", "limit"], ...lines]);
}
