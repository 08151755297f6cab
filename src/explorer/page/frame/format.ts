/** How the page writes times, counts, durations and keys: one form each. */

const counts = new Intl.NumberFormat("en");
const times = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });

/** `12,345` */
export function formatCount(count: number): string {
  return counts.format(count);
}

/** `1 object`, `12,345 objects` */
export function countedNoun(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `2026-11-18 04:43:07` in the time zone of the browser. The store keeps numbers that are no date. */
export function formatTime(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : times.format(date);
}

/** `340 µs`, `4.2 ms`, `12 ms`, `1.25 s`, `2 min 5 s`. The clocks of the runtime have whole milliseconds. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds <= 0) return "< 1 ms";
  if (milliseconds < 0.9995) return `${Math.max(1, Math.round(milliseconds * 1000))} µs`;
  if (milliseconds < 9.95) return `${Number(milliseconds.toFixed(1))} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_995) return `${(milliseconds / 1000).toFixed(2)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const units = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 };

/** A length of time in its two largest units: `8 days`, `1 day and 2 hours`, `200 ms`. */
export function spanWords(milliseconds: number): string {
  let rest = Math.round(milliseconds);
  const parts: string[] = [];
  for (const [unit, size] of Object.entries(units)) {
    if (rest >= size) parts.push(countedNoun(Math.floor(rest / size), unit));
    rest %= size;
  }
  if (rest > 0 || parts.length === 0) parts.push(`${rest} ms`);
  return parts.slice(0, 2).join(" and ");
}

/**
 * Control characters, line ends, half surrogate pairs, and what has no width or changes the direction
 * of text. The joiners U+200C and U+200D are parts of words and emoji, and stay.
 */
const odd =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;
const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A key or another name of people's data, with odd characters as escapes: the text is as it seems. */
export function shownKey(key: string): string {
  return key.replaceAll(
    odd,
    (character) =>
      named[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
