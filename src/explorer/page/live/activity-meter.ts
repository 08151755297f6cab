/**
 * Rates and durations of the last 60 seconds, by kind. An entry counts in the second in which it
 * ended. The calls of a request count with their own kinds.
 */
import type { ActivityEntry } from "../../api/activity.ts";
import { entryKinds, isOfExplorer, type EntryKind } from "./activity-filter.ts";
import { percentilesOf, type Percentiles } from "./percentiles.ts";

export const meterSeconds = 60;

/** Durations of a kind and a second that are kept: percentiles of a flood need no more. */
const durationsMax = 1000;

export interface KindMeasure {
  /** How many ended in each second; the last item is the last whole second. */
  readonly perSecond: readonly number[];
  readonly percentiles: Percentiles | null;
}

export type Measures = Readonly<Record<EntryKind, KindMeasure>>;

type Bin = Record<EntryKind, { count: number; durations: number[] }>;

export class ActivityMeter {
  readonly #bins = new Map<number, Bin>();

  /** @param now milliseconds since the epoch */
  add(entries: readonly ActivityEntry[], now: number): void {
    const oldest = Math.floor(now / 1000) - meterSeconds;
    for (const entry of entries) {
      if (isOfExplorer(entry)) continue;
      this.#count(entry, oldest);
      if (entry.kind === "request") for (const call of entry.calls) this.#count(call, oldest);
    }
    for (const second of this.#bins.keys()) if (second < oldest) this.#bins.delete(second);
  }

  /** @param now milliseconds since the epoch */
  read(now: number): Measures {
    const end = Math.floor(now / 1000);
    const bins = Array.from({ length: meterSeconds }, (_, index) =>
      this.#bins.get(end - meterSeconds + index),
    );
    const measure = (kind: EntryKind): KindMeasure => ({
      perSecond: bins.map((bin) => bin?.[kind].count ?? 0),
      percentiles: percentilesOf(bins.flatMap((bin) => bin?.[kind].durations ?? [])),
    });
    return Object.fromEntries(entryKinds.map((kind) => [kind, measure(kind)])) as Measures;
  }

  #count({ kind, at, milliseconds }: ActivityEntry, oldest: number): void {
    const second = Math.floor((at + milliseconds) / 1000);
    if (second < oldest) return;
    let bin = this.#bins.get(second);
    if (bin === undefined) this.#bins.set(second, (bin = emptyBin()));
    const { durations } = bin[kind];
    bin[kind].count++;
    if (durations.length < durationsMax) durations.push(milliseconds);
  }
}

function emptyBin(): Bin {
  return Object.fromEntries(entryKinds.map((kind) => [kind, { count: 0, durations: [] }])) as never;
}
