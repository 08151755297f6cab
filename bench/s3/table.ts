/** The cells of the table. */
import { formatTime } from "../store/table.ts";
import type { RowResult } from "./measure-row.ts";

/** A server that cannot execute the operation has a reason in the place of its result. */
export function formatResult(result: RowResult | string): string {
  return typeof result === "string" ? result : formatTime(result.milliseconds);
}

/** NaN if one of the servers cannot execute the operation. */
export function ratio(
  one: RowResult | string,
  other: RowResult | string,
  field: keyof RowResult,
): number {
  return typeof one === "string" || typeof other === "string" ? NaN : one[field] / other[field];
}

export function formatRatio(value: number): string {
  return Number.isFinite(value) ? value.toFixed(1) : "";
}

export function describeAim(
  aim: number | undefined,
  isReached: (aim: number) => boolean,
  sign: string,
): string {
  return aim === undefined ? "" : `${sign} ${aim} ${isReached(aim) ? "✓" : "✗"}`;
}
