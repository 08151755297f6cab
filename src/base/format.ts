/** Numbers and tables as text for a terminal. */

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0
    ? `${bytes} ${bytes === 1 ? "byte" : "bytes"}`
    : `${value.toFixed(1)} ${units[unit]}`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Rows in columns. Numbers are aligned to the right. */
export function formatTable(rows: readonly (readonly (string | number)[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, String(cell).length);
    }
  }
  return rows
    .map((row) =>
      row
        .map((cell, index) => {
          const width = widths[index] as number;
          return typeof cell === "number" ? String(cell).padStart(width) : cell.padEnd(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
