/**
 * The entry of an invocation of the script, from the report of the dev server's tail worker
 * (`dev/plugin/tail-plugins.ts`): the events of workerd's streaming tail, shortened, as one line on the
 * console of the runtime: a mark, and JSON.
 *
 * The events of a span can arrive after the end of its parent, and in any order among spans. A span below a
 * span of the platform belongs to the same call (the request to the object behind a bucket), so only
 * the outermost of them is an entry.
 */
import type { CallEntry, RequestEntry } from "../api/activity.ts";
import { isPlatformSpan, isPlumbing, spanCall, type Span } from "./span-call.ts";

/** No line of a script begins with it by chance. */
export const activityMark = "\u0001ledge:activity ";

export interface Invocation {
  readonly id: string;
  /** The first event is the onset. */
  readonly events: readonly TraceEvent[];
  /** Events that the tail worker has not kept. */
  readonly dropped: number;
  /** When the tail worker has reported, in milliseconds since the epoch. */
  readonly reportedAt: number;
  /** Without the outcome: the report of an invocation that still runs. */
  readonly isRunning: boolean;
}

interface TraceEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The span that the event belongs to; of `spanOpen`, the parent. */
  readonly span: string | undefined;
  readonly event: TraceEventBody;
}

export type TraceEventBody =
  | {
      readonly type: "onset";
      readonly spanId: string;
      readonly entrypoint?: string;
      readonly info: OnsetInfo;
    }
  | { readonly type: "spanOpen"; readonly name: string; readonly spanId: string }
  | { readonly type: "spanClose"; readonly outcome: string }
  | { readonly type: "attributes"; readonly info: readonly { name: string; value: unknown }[] }
  | { readonly type: "log"; readonly level: string; readonly message: unknown }
  | {
      readonly type: "exception";
      readonly name: string;
      readonly message: string;
      readonly stack?: string;
    }
  | { readonly type: "return"; readonly info?: { readonly statusCode?: number } }
  | { readonly type: "outcome"; readonly outcome: string };

/** What has started the invocation. The fields depend on the type. */
interface OnsetInfo {
  readonly type: string;
  readonly method?: string;
  readonly url?: string;
  readonly cron?: string;
  readonly queueName?: string;
  readonly rcptTo?: string;
}

/** @returns `null` for a line of the script */
export function readInvocation(line: string): Invocation | null {
  if (!line.startsWith(activityMark)) return null;
  return JSON.parse(line.slice(activityMark.length)) as Invocation;
}

interface OpenedSpan extends Span {
  readonly parent: string | undefined;
  readonly opened: number;
  closed: number | null;
  readonly attributes: Map<string, unknown>;
  outcome: string | null;
}

type Onset = Extract<TraceEventBody, { type: "onset" }>;

/** Status 101: the response is a WebSocket. */
const upgradedStatus = 101;
const serverErrorStatus = 500;

/** @param mapStack replaces positions in the bundle by positions in the sources */
export function requestEntry(
  { events, reportedAt, dropped, isRunning }: Invocation,
  mapStack: (stack: string) => string = (stack) => stack,
): Omit<RequestEntry, "id"> {
  const [first] = events;
  if (first?.event.type !== "onset") throw new Error("A trace begins with the onset");
  const spans = new Map<string, OpenedSpan>();
  const attributes = new Map<string, unknown>();
  const logs: { level: string; text: string }[] = [];
  const exceptions: { name: string; message: string; stack: string }[] = [];
  let returned: { readonly at: number; readonly status: number | undefined } | undefined;
  let ended: { readonly at: number; readonly text: string } | undefined;
  for (const { at, span: id = "", event } of events) {
    const span = spans.get(id);
    if (event.type === "spanOpen") {
      const { name, spanId } = event;
      const opened = { name, opened: at, closed: null, attributes: new Map(), outcome: null };
      spans.set(spanId, { ...opened, parent: id });
    } else if (event.type === "spanClose" && span !== undefined) {
      span.closed = at;
      span.outcome = event.outcome;
    } else if (event.type === "attributes") {
      const named = span?.attributes ?? attributes;
      for (const { name, value } of event.info) named.set(name, value);
    } else if (event.type === "log") {
      logs.push({ level: event.level, text: logText(event.message) });
    } else if (event.type === "exception") {
      const { name, message, stack = "" } = event;
      exceptions.push({ name, message, stack: mapStack(stack) });
    } else if (event.type === "return") returned = { at, status: event.info?.statusCode };
    else if (event.type === "outcome") ended = { at, text: event.outcome };
  }
  const isFetch = first.event.info.type === "fetch";
  const status = returned?.status ?? (isFetch && returned !== undefined ? upgradedStatus : null);
  // Work after the response (`waitUntil()`) is no part of the response's time.
  const end = (isFetch ? returned?.at : undefined) ?? ended?.at ?? reportedAt;
  const problem = ended === undefined || ended.text === "ok" ? null : ended.text;
  const hasFailed = problem !== null || exceptions.length > 0;
  const [thrown] = exceptions;
  return {
    kind: "request",
    at: first.at,
    milliseconds: Math.max(0, end - first.at),
    ...nameOf(first.event, attributes),
    status,
    outcome: hasFailed || (status ?? 0) >= serverErrorStatus ? "error" : "ok",
    note:
      thrown === undefined
        ? noteOf({ problem, isRunning, dropped })
        : `${thrown.name}: ${thrown.message}`.split("\n", 1).join(),
    calls: callsOf(spans, ended?.at ?? reportedAt),
    logs,
    exceptions,
  };
}

function logText(message: unknown): string {
  const values: unknown[] = Array.isArray(message) ? message : [message];
  return values
    .map((value) => (typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined")))
    .join(" ");
}

/** The method and the address, or the kind of the event and what names it. */
function nameOf(
  { info, entrypoint = "" }: Onset,
  attributes: ReadonlyMap<string, unknown>,
): Pick<RequestEntry, "method" | "url"> {
  switch (info.type) {
    case "fetch":
      return { method: info.method ?? "", url: info.url ?? "" };
    case "jsrpc": {
      const called = attributes.get("jsrpc.method");
      return { method: "rpc", url: [entrypoint, called].filter(Boolean).join(".") };
    }
    case "scheduled":
      return { method: "scheduled", url: info.cron ?? "" };
    case "queue":
      return { method: "queue", url: info.queueName ?? "" };
    case "email":
      return { method: "email", url: info.rcptTo ?? "" };
    case "hibernatableWebSocket":
      return { method: "websocket", url: entrypoint };
    default:
      return { method: info.type, url: entrypoint };
  }
}

const outcomeTexts: Readonly<Record<string, string>> = {
  exception: "The script has thrown an exception.",
  canceled: "The client closed the connection before the end.",
  responseStreamDisconnected: "The client closed the connection before the end of the response.",
  exceededCpu: "The script has used too much CPU time.",
  exceededMemory: "The script has used too much memory.",
};

function noteOf(of: {
  readonly problem: string | null;
  readonly isRunning: boolean;
  readonly dropped: number;
}): string | null {
  if (of.isRunning) return "Still running.";
  if (of.problem !== null) {
    return outcomeTexts[of.problem] ?? `The runtime says: ${of.problem}.`;
  }
  return of.dropped === 0 ? null : `${of.dropped} more events are not shown.`;
}

function callsOf(spans: ReadonlyMap<string, OpenedSpan>, end: number): CallEntry[] {
  return [...spans.values()]
    .filter((span) => !isPlumbing(span) && !isPartOfCall(spans, span))
    .map((span, index) => ({
      id: index + 1,
      at: span.opened,
      milliseconds: Math.max(0, (span.closed ?? end) - span.opened),
      source: "script",
      ...spanCall(span),
    }));
}

function isPartOfCall(spans: ReadonlyMap<string, OpenedSpan>, { parent }: OpenedSpan): boolean {
  const seen = new Set<string>();
  for (let id = parent; id !== undefined && !seen.has(id); id = spans.get(id)?.parent) {
    seen.add(id);
    const span = spans.get(id);
    if (span === undefined) return false;
    if (isPlatformSpan(span)) return true;
  }
  return false;
}
