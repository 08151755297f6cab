/**
 * What happens in the project, as two streams of server-sent events.
 *
 *     GET /api/changes                 each `data` is a Change[]: which lists of the page are out of date
 *     GET /api/activity  ?after=ID     each `data` is an ActivityBatch: requests of the script with their
 *                                      calls, calls of other programs, DNS queries, calls of the record API
 *
 * A page that connects again to the changes loads its lists again: it may have missed changes. The server
 * sends the change `all` when it may have missed changes itself.
 */

/** Something that a list of the page shows was changed, by any program. */
export type Change =
  /** Also the counts of the bucket. */
  | { readonly topic: "objects"; readonly bucket: string }
  | { readonly topic: "uploads"; readonly bucket: string }
  /** `zone`: the id of the zone. */
  | { readonly topic: "records"; readonly zone: string }
  /** `project`: the script or the configuration was loaded again. `all`: every list may be out of date. */
  | { readonly topic: "buckets" | "zones" | "tasks" | "faults" | "state" | "project" | "all" };

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
  /** What the script threw: the message, and the stack by the source map. */
  readonly exceptions?: readonly {
    readonly name: string;
    readonly message: string;
    readonly stack: string;
  }[];
}

/** Bindings without a view of their own, and `fetch()`. */
export const bindingKinds = [
  "kv",
  "d1",
  "r2",
  "queue",
  "cache",
  "durable_object",
  "ai",
  "vectorize",
  "workflow",
  "images",
  "email",
  "hyperdrive",
  "browser",
  "pipeline",
  "dispatch",
  "secrets_store",
  "analytics_engine",
  "fetch",
] as const;

export interface CallEntry extends EntryHead {
  /** `edge`: a request for a name. `other`: a span that the script has opened itself. */
  readonly kind: "edge" | "bucket" | "query" | "api" | (typeof bindingKinds)[number] | "other";
  /** Which program made the call: `script`, `s3`, `command line`, `explorer`, or an address. */
  readonly source: string;
  /** `put`, `A`, `POST`, `get` */
  readonly method: string;
  /** Bucket, binding or host; empty if there is none. */
  readonly place: string;
  /** Key, name or path. */
  readonly subject: string;
  /** Bytes of content, or `null`. */
  readonly bytes: number | null;
  /** Of the response, if the call is a request of HTTP. */
  readonly status?: number;
}
