/**
 * The entry of an invocation, from the events of its trace.
 *
 * The events of a span can arrive after the end of its parent, and in any order among spans. A span below a
 * span of the platform belongs to the same call (the request to the object behind a bucket), so only
 * the outermost of them is an entry.
 */
import type { CallEntry, RequestEntry } from "../api/activity.ts";
import type { Invocation, TraceEventBody } from "./invocation.ts";
import { isPlatformSpan, isPlumbing, spanCall, type Span } from "./span-call.ts";

interface OpenedSpan extends Span {
  readonly parent: string | undefined;
  readonly opened: number;
  closed: number | null;
  readonly attributes: Map<string, unknown>;
  outcome: string | null;
}

type Onset = Extract<TraceEventBody, { type: "onset" }>;

/** What an invocation says of itself, beside its spans. */
interface Course {
  readonly onset: Onset;
  readonly logs: { level: string; text: string }[];
  readonly exceptions: NonNullable<RequestEntry["exceptions"]>[number][];
  readonly attributes: Map<string, unknown>;
  returned: { readonly at: number; readonly status: number | undefined } | null;
  outcome: { readonly at: number; readonly text: string } | null;
}

/** Status 101: the response is a WebSocket. */
const upgradedStatus = 101;
const serverErrorStatus = 500;

/** @param mapStack replaces positions in the bundle by positions in the sources */
export function requestEntry(
  invocation: Invocation,
  mapStack: (stack: string) => string = (stack) => stack,
): Omit<RequestEntry, "id"> {
  const { events, reportedAt, dropped, isRunning } = invocation;
  const [first] = events;
  if (first?.event.type !== "onset") throw new Error("A trace begins with the onset");
  const spans = new Map<string, OpenedSpan>();
  const course: Course = {
    onset: first.event,
    logs: [],
    exceptions: [],
    attributes: new Map(),
    returned: null,
    outcome: null,
  };
  for (const { at, span, event } of events) {
    if (!readSpan(spans, span, at, event)) readCourse(course, at, event);
  }
  const { onset, returned, outcome } = course;
  const isFetch = onset.info.type === "fetch";
  const status = returned?.status ?? (isFetch && returned !== null ? upgradedStatus : null);
  // Work after the response (`waitUntil()`) is no part of the response's time.
  const end = (isFetch ? returned?.at : undefined) ?? outcome?.at ?? reportedAt;
  return {
    kind: "request",
    at: first.at,
    milliseconds: Math.max(0, end - first.at),
    ...nameOf(course),
    status,
    outcome: hasFailed(course, status) ? "error" : "ok",
    note: noteOf(course, isRunning, dropped),
    calls: callsOf(spans, outcome?.at ?? reportedAt),
    logs: course.logs,
    exceptions: course.exceptions.map(({ name, message, stack }) => ({
      name,
      message,
      stack: mapStack(stack),
    })),
  };
}

/** @returns whether the event belongs to a span */
function readSpan(
  spans: Map<string, OpenedSpan>,
  id: string | undefined,
  at: number,
  event: TraceEventBody,
): boolean {
  if (event.type === "spanOpen") {
    const { name, spanId } = event;
    spans.set(spanId, {
      name,
      parent: id,
      opened: at,
      closed: null,
      attributes: new Map(),
      outcome: null,
    });
    return true;
  }
  const span = id === undefined ? undefined : spans.get(id);
  if (span === undefined) return false;
  if (event.type === "attributes") {
    for (const { name, value } of event.info) span.attributes.set(name, value);
  } else if (event.type === "spanClose") {
    span.closed = at;
    span.outcome = event.outcome;
  } else return false;
  return true;
}

function readCourse(course: Course, at: number, event: TraceEventBody): void {
  switch (event.type) {
    case "attributes":
      for (const { name, value } of event.info) course.attributes.set(name, value);
      break;
    case "log":
      course.logs.push({ level: event.level, text: logText(event.message) });
      break;
    case "exception":
      course.exceptions.push({ ...event, stack: event.stack ?? "" });
      break;
    case "return":
      course.returned = { at, status: event.info?.statusCode };
      break;
    case "outcome":
      course.outcome = { at, text: event.outcome };
      break;
    // The onset is the first event, and the others belong to spans.
    case "onset":
    case "spanOpen":
    case "spanClose":
      break;
  }
}

function logText(message: unknown): string {
  const values: unknown[] = Array.isArray(message) ? message : [message];
  return values
    .map((value) => (typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined")))
    .join(" ");
}

/** The method and the address, or the kind of the event and what names it. */
function nameOf({ onset, attributes }: Course): Pick<RequestEntry, "method" | "url"> {
  const { info, entrypoint = "" } = onset;
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

function hasFailed({ outcome, exceptions }: Course, status: number | null): boolean {
  const isFailure = outcome !== null && outcome.text !== "ok";
  return isFailure || exceptions.length > 0 || (status !== null && status >= serverErrorStatus);
}

function noteOf(course: Course, isRunning: boolean, dropped: number): string | null {
  const { exceptions, outcome } = course;
  const [exception] = exceptions;
  if (exception !== undefined) {
    return `${exception.name}: ${exception.message}`.split("\n", 1).join();
  }
  if (isRunning) return "Still running.";
  if (outcome !== null && outcome.text !== "ok") {
    return outcomeTexts[outcome.text] ?? `The runtime says: ${outcome.text}.`;
  }
  return dropped === 0 ? null : `${dropped} more events are not shown.`;
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
