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

/**
 * Control characters, with which a text could command a terminal or hide a part of itself. The last three
 * ranges are the marks that separate lines and turn the direction of text.
 */
const controls =
  // oxlint-disable-next-line no-control-regex -- control characters are intended
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text with control characters as JSON can write them: `\n`, `\u001b`. */
export function escapeControls(text: string, kept = ""): string {
  return text.replace(controls, (character) => {
    if (kept.includes(character)) return character;
    const [, short] = /^"(\\.)"$/.exec(JSON.stringify(character)) ?? [];
    return short ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The lines if the condition holds, and none otherwise: for texts of which parts are optional. */
export function linesIf(condition: boolean, ...lines: readonly string[]): readonly string[] {
  return condition ? lines : [];
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

/** A length of time as tests write it: `"7d"`, `"90 s"`, `"1h30m"`, or milliseconds. */
export type Duration = number | string;

const unitMilliseconds = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
} as const;

const term = /\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)\s*/y;

export function toMilliseconds(duration: Duration): number {
  const milliseconds = typeof duration === "number" ? duration : parse(duration);
  if (Number.isFinite(milliseconds)) return milliseconds;
  throw new TypeError(
    `"${duration}" is not a length of time. Use milliseconds, or text such as "7d", "90s" or "1h30m".`,
  );
}

function parse(text: string): number {
  const isNegative = text.startsWith("-");
  const unsigned = isNegative ? text.slice(1) : text;
  let sum = 0;
  let end = 0;
  while (end < unsigned.length) {
    term.lastIndex = end;
    const match = term.exec(unsigned);
    if (match === null) return NaN;
    sum += Number(match[1]) * unitMilliseconds[match[2] as keyof typeof unitMilliseconds];
    end = term.lastIndex;
  }
  return end === 0 ? NaN : isNegative ? -sum : sum;
}
