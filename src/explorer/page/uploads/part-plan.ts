/** How a large file is divided into parts: all parts but the last have the same size. */
import { partNumberMax } from "../../../store/core/limits.ts";

const mib = 1024 * 1024;

/** Ours: files up to this size are sent by one request. */
export const singleBytesMax = 16 * mib;
/** Ours: small enough that a part that has to be sent again costs little. */
const partBytesUsual = 16 * mib;

export interface PartPlan {
  readonly size: number;
  /** The size of every part but the last. */
  readonly partBytes: number;
  readonly count: number;
}

/** @param partBytes of an upload that has begun; otherwise the plan chooses the size */
export function planParts(size: number, partBytes = choosePartBytes(size)): PartPlan {
  return { size, partBytes, count: Math.max(1, Math.ceil(size / partBytes)) };
}

function choosePartBytes(size: number): number {
  return Math.max(partBytesUsual, Math.ceil(size / partNumberMax / mib) * mib);
}

/** The bytes of a part: from `start` up to, but not including, `end`. */
export function partRange(
  { size, partBytes }: PartPlan,
  partNumber: number,
): { readonly start: number; readonly end: number } {
  const start = (partNumber - 1) * partBytes;
  return { start, end: Math.min(start + partBytes, size) };
}

export function partSize(plan: PartPlan, partNumber: number): number {
  const { start, end } = partRange(plan, partNumber);
  return end - start;
}
