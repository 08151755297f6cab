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
