/**
 * What happens in the project, as a stream: requests of the script with the calls that belong to them,
 * calls of other programs, DNS queries and calls of the record API.
 *
 *     GET /api/activity  ?after=ID     server-sent events; each `data` is an ActivityBatch
 */
export interface ActivityBatch {
  readonly entries: readonly ActivityEntry[];
  /** Entries that the server dropped before the page could read them. */
  readonly dropped: number;
}

export type ActivityEntry = RequestEntry | CallEntry;

interface EntryHead {
  /** Ascending, and unique while the server runs. Of a call of a request: its place among the calls. */
  readonly id: number;
  /** When it began: milliseconds since the epoch. */
  readonly at: number;
  readonly milliseconds: number;
  readonly outcome: "ok" | "none" | "error";
  /** The error, or another remark: one line. */
  readonly note: string | null;
}

/** An invocation of the script: a request, a scheduled event, an alarm. */
export interface RequestEntry extends EntryHead {
  readonly kind: "request";
  /** `GET`, or the kind of the event. */
  readonly method: string;
  /** The URL, or what names the event. */
  readonly url: string;
  /** `null` for an invocation without a response. */
  readonly status: number | null;
  /** The id of an earlier entry of the same invocation, which ran for long: this entry replaces it. */
  readonly replaces?: number;
  readonly calls: readonly CallEntry[];
  /** What the script wrote to its console. */
  readonly logs: readonly { readonly level: string; readonly text: string }[];
}

export interface CallEntry extends EntryHead {
  readonly kind: "bucket" | "query" | "api" | "other";
  /** Which program made the call: `script`, `s3`, `command line`, `explorer`, or an address. */
  readonly source: string;
  /** `put`, `A`, `POST`, `kv_get` */
  readonly method: string;
  /** Bucket, zone or service; empty if there is none. */
  readonly place: string;
  /** Key, name or path. */
  readonly subject: string;
  /** Bytes of content, or `null`. */
  readonly bytes: number | null;
}
