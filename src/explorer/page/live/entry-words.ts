/** How entries are written, and where they lead. */
import type { ActivityEntry, CallEntry } from "../../api/activity.ts";
import { shownKey } from "../frame/format.ts";
import { bucketPlace, recordsPlace, type Place } from "../location.ts";

/** Filters have few kinds: all bindings without a view of their own are one. */
export const groupLabels = {
  request: "Requests",
  edge: "Names",
  bucket: "Buckets",
  query: "DNS queries",
  api: "DNS API",
  other: "Other bindings",
} as const;

/** The kind for filters and colours. */
export function groupOf(kind: string): string {
  return kind in groupLabels ? kind : "other";
}

const kindNames: Readonly<Record<string, string>> = {
  query: "DNS query",
  api: "DNS API",
  kv: "KV",
  d1: "D1",
  r2: "R2",
  ai: "AI",
};

/** `Request`, `KV`, `Durable object`: the server's word for the kind, unless the word is an abbreviation. */
export function kindName(kind: string): string {
  const words = kind.replaceAll(/[_-]/g, " ");
  return kindNames[kind] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

export function isOfExplorer(entry: ActivityEntry): boolean {
  return entry.kind !== "request" && entry.source === "explorer";
}

/** A response that says that the server failed is an error, even if the script threw none. */
export function isError(entry: ActivityEntry): boolean {
  return entry.outcome === "error" || (entry.status ?? 0) >= 500;
}

const times = new Intl.DateTimeFormat("sv-SE", { timeStyle: "medium" });

/** The time of day with milliseconds, in the zone of the browser. */
export function timeText(at: number): string {
  return `${times.format(at)}.${String(Math.floor(at) % 1000).padStart(3, "0")}`;
}

/** The path and the query of a URL, as the script received them; other text as it is. */
export function pathOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*(?=(.*))/is.exec(url)?.[1] || url;
}

/** What a row is about: the path, or the place and the subject. */
export function subjectOf(entry: ActivityEntry): string {
  if (entry.kind === "request") return shownKey(pathOf(entry.url));
  const { kind, place, subject } = entry;
  if (kind === "query" || kind === "api" || place === "") return shownKey(subject || place);
  if (subject === "") return shownKey(place);
  return shownKey(`${place}${kind === "bucket" ? "/" : " "}${subject}`);
}

/** The status of a response, or the outcome in words. */
export function outcomeText(entry: ActivityEntry): string {
  if (typeof entry.status === "number") return String(entry.status);
  return { ok: "ok", none: "not found", error: "error" }[entry.outcome];
}

/** The tone of a badge. */
export function outcomeTone(entry: ActivityEntry): "good" | "warning" | "bad" {
  if (isError(entry)) return "bad";
  if ((entry.status ?? 0) >= 400) return "warning";
  return entry.outcome === "none" ? "warning" : "good";
}

/** Why an entry failed, or another remark: one line. */
export function noteOf(entry: ActivityEntry): string | null {
  const [exception] = entry.kind === "request" ? (entry.exceptions ?? []) : [];
  return exception === undefined ? entry.note : `${exception.name}: ${exception.message}`;
}

/** Where a call leads: to its object, to the same query, to the records of its zone, or nowhere. */
export function placeOfCall({ kind, method, place, subject }: CallEntry): Place | null {
  if (kind === "bucket") return place === "" ? null : placeInBucket(place, method, subject);
  if (kind === "api") return placeInApi(subject);
  const isQuery = kind === "query" && subject !== "";
  return isQuery ? { view: "lookup", name: subject, type: method } : null;
}

/** The path has the id of the zone, which the view of the records takes for its name. */
function placeInApi(path: string): Place | null {
  const [, zones, id] = /^\/client\/v4(\/zones)(?:\/([0-9a-f]{32}))?(?=[/?]|$)/.exec(path) ?? [];
  if (id !== undefined) return recordsPlace(id);
  return zones === undefined ? null : { view: "zones" };
}

function placeInBucket(bucket: string, method: string, subject: string): Place {
  if (method === "listMultipartUploads") return { view: "uploads", bucket };
  if (method === "list") return bucketPlace(bucket, subject);
  if (subject === "") return bucketPlace(bucket);
  const folder = subject.slice(0, subject.lastIndexOf("/") + 1);
  return { view: "objects", bucket, prefix: folder, after: "", sort: "key", key: subject };
}
