/** Entries and tasks for unit tests. */
import type { CallEntry, RequestEntry } from "../api/activity.ts";
import type { ObjectTask, Task } from "../api/tasks.ts";

export function callEntry(fields: Partial<CallEntry> = {}): CallEntry {
  return {
    id: 1,
    at: 1_000_000,
    milliseconds: 5,
    outcome: "ok",
    note: null,
    kind: "bucket",
    source: "script",
    method: "put",
    place: "photos",
    subject: "images/a.png",
    bytes: 3,
    ...fields,
  };
}

export function requestEntry(fields: Partial<RequestEntry> = {}): RequestEntry {
  return {
    id: 1,
    at: 1_000_000,
    milliseconds: 20,
    outcome: "ok",
    note: null,
    kind: "request",
    method: "GET",
    url: "http://localhost:8787/albums?page=2",
    status: 200,
    calls: [],
    logs: [],
    ...fields,
  };
}

export function objectTask(fields: Partial<ObjectTask> = {}): Task {
  return {
    id: "1",
    kind: "delete",
    bucket: "photos",
    keys: ["a", "b"],
    prefixes: [],
    state: "waiting",
    begins: 10_000,
    done: 0,
    total: null,
    failures: [],
    failed: 0,
    ...fields,
  };
}
