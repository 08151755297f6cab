/** Lengths of time as text: rounded, because more precision would only change more often. */
import { counted } from "../../../base/format.ts";

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** The time that a transfer still takes: an estimate. */
export function transferTimeText(seconds: number): string {
  if (seconds < 10) return "a few seconds left";
  if (seconds < minute) return `about ${Math.ceil(seconds / 10) * 10} seconds left`;
  if (seconds < 90 * minute) return `about ${counted(Math.round(seconds / minute), "minute")} left`;
  if (seconds < 2 * day) return `about ${counted(Math.round(seconds / hour), "hour")} left`;
  return `about ${counted(Math.round(seconds / day), "day")} left`;
}

/** The time until the store aborts an upload: exact, and never more than what is left. */
export function lifetimeText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds <= 0) return "expired";
  if (seconds < minute) return counted(seconds, "second");
  if (seconds < hour) return counted(Math.floor(seconds / minute), "minute");
  return seconds < day
    ? twoUnits(seconds, { seconds: hour, name: "hour" }, { seconds: minute, name: "minute" })
    : twoUnits(seconds, { seconds: day, name: "day" }, { seconds: hour, name: "hour" });
}

interface Unit {
  readonly seconds: number;
  readonly name: string;
}

function twoUnits(seconds: number, large: Unit, small: Unit): string {
  const whole = counted(Math.floor(seconds / large.seconds), large.name);
  const rest = Math.floor((seconds % large.seconds) / small.seconds);
  return rest === 0 ? whole : `${whole} ${counted(rest, small.name)}`;
}
