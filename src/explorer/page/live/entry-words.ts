/** How entries are written: times, durations, paths. */
import type { ActivityEntry } from "../../api/activity.ts";
import { isError, type EntryKind } from "./activity-filter.ts";

export const kindLabels: Readonly<Record<EntryKind, KindLabel>> = {
  request: { one: "Request", short: "Requests", many: "Requests" },
  bucket: { one: "Bucket", short: "Buckets", many: "Bucket calls" },
  query: { one: "Query", short: "Queries", many: "DNS queries" },
  api: { one: "API", short: "API", many: "API calls" },
  other: { one: "Other", short: "Other", many: "Other calls" },
};

interface KindLabel {
  readonly one: string;
  /** On a chip or a chart */
  readonly short: string;
  readonly many: string;
}

/** `0.4 ms`, `12 ms`, `1.25 s` */
export function durationText(milliseconds: number): string {
  if (milliseconds >= 999.5) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${milliseconds < 9.95 ? Number(milliseconds.toFixed(1)) : Math.round(milliseconds)} ms`;
}

/** The time of day with milliseconds, in the zone of the browser. */
export function timeText(at: number): string {
  const date = new Date(at);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits);
  return `${time.join(":")}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** The path and the query of a URL, as the script received them; other text as it is. */
export function pathOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*(?=(.*))/is.exec(url)?.[1] || url;
}

/** What a row is about: the path, or the place and the subject. */
export function subjectOf(entry: ActivityEntry): string {
  if (entry.kind === "request") return pathOf(entry.url);
  if (entry.kind !== "bucket" || entry.place === "") return entry.subject || entry.place;
  return entry.subject === "" ? entry.place : `${entry.place}/${entry.subject}`;
}

/** The status of a response, or the outcome in a word. */
export function outcomeText(entry: ActivityEntry): string {
  if (entry.kind === "request" && entry.status !== null) return String(entry.status);
  return { ok: "ok", none: "none", error: "error" }[entry.outcome];
}

/** The tone of a badge. */
export function outcomeTone(entry: ActivityEntry): "good" | "warning" | "bad" {
  if (isError(entry)) return "bad";
  if (entry.kind === "request" && entry.status !== null && entry.status >= 400) return "warning";
  return entry.outcome === "none" ? "warning" : "good";
}
