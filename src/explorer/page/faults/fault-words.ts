/** Faults in words: lengths of time, and the sentence of the banner. */
import type { FaultsState } from "../../api/faults.ts";
import { countedNoun } from "../frame/format.ts";

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;

/** `a, b and c` */
const list = new Intl.ListFormat("en-GB");

/** The two largest units: `8 days`, `1 day and 2 hours`, `200 ms`. */
function durationWords(milliseconds: number): string {
  let rest = Math.round(Math.abs(milliseconds));
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count > 0) parts.push(countedNoun(count, unit));
  }
  if (rest > 0 || parts.length === 0) parts.push(`${rest} ms`);
  return parts.slice(0, 2).join(" and ");
}

/** `8 days ahead`, `1 hour behind` */
export function offsetWords(milliseconds: number): string {
  return `${durationWords(milliseconds)} ${milliseconds < 0 ? "behind" : "ahead"}`;
}

/** What is on: `2 faults and a clock 8 days ahead`; `null` if nothing is. */
export function faultWords(
  state: Pick<FaultsState, "faults" | "latencyMilliseconds" | "clockOffsetMilliseconds">,
): string | null {
  const { faults, latencyMilliseconds, clockOffsetMilliseconds } = state;
  const parts: string[] = [];
  if (faults.length > 0) parts.push(countedNoun(faults.length, "fault"));
  if (latencyMilliseconds > 0) parts.push(`${durationWords(latencyMilliseconds)} of latency`);
  if (clockOffsetMilliseconds !== 0) parts.push(`a clock ${offsetWords(clockOffsetMilliseconds)}`);
  return parts.length === 0 ? null : list.format(parts);
}
