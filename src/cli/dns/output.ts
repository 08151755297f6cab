/** What the commands print: JSON if so asked, text otherwise. */
import type { Invocation } from "../command.ts";

export function print({ options }: Invocation, value: unknown, text: string): void {
  const isJson = options["json"] === true;
  if (!isJson && text === "") return;
  process.stdout.write(`${isJson ? JSON.stringify(value) : text}\n`);
}

/** What is worth knowing and was not asked for. */
export function remark(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function textOption({ options }: Invocation, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Rows in columns. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    }
  }
  return rows
    .map((row) => row.map((cell, index) => cell.padEnd(widths[index] as number)).join("  "))
    .map((line) => line.trimEnd())
    .join("\n");
}
