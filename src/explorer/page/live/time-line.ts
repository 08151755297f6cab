/** Where the calls of a request stand on its time line. */
import type { CallEntry, RequestEntry } from "../../api/activity.ts";

export interface TimeLineBar {
  readonly call: CallEntry;
  /** Milliseconds after the request began. */
  readonly offset: number;
  readonly startPercent: number;
  readonly widthPercent: number;
}

export interface TimeLine {
  /** A call that goes on after the response makes the line longer than the request. */
  readonly milliseconds: number;
  /** In the order in which the calls began. */
  readonly bars: readonly TimeLineBar[];
}

export function timeLineOf({ at, milliseconds, calls }: RequestEntry): TimeLine {
  const ends = calls.map((call) => call.at + call.milliseconds - at);
  const total = Math.max(milliseconds, ...ends);
  const percent = (value: number): number =>
    total <= 0 ? 0 : Math.min(100, Math.max(0, (100 * value) / total));
  const bars = calls
    .map((call): TimeLineBar => {
      // Clocks of two processes may differ by a little.
      const offset = Math.max(0, call.at - at);
      const startPercent = percent(offset);
      const widthPercent = Math.min(100 - startPercent, percent(call.milliseconds));
      return { call, offset, startPercent, widthPercent };
    })
    .toSorted((one, other) => one.offset - other.offset);
  return { milliseconds: total, bars };
}
