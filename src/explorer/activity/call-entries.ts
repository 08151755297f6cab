/** Entries of calls and queries that no trace of the script has, and what the calls have changed. */
import type { LoggedQuery } from "../../dns/fault/query-log.ts";
import type { EdgeWay } from "../../edge/core/way.ts";
import type { LoggedCall } from "../../dns/rules/api-call.ts";
import type { FollowedCall } from "../../store/client/message.ts";
import type { CallEntry, Change } from "../api/activity.ts";

type NewCall = Omit<CallEntry, "id">;

/** A call of a bucket by a program that is not the script. */
export function bucketEntry(call: FollowedCall): NewCall {
  const { at, milliseconds, outcome, client, method, bucket, key, keys, bytes, text } = call;
  const isContent = method === "put" || method === "uploadPart" || method === "get";
  const more = keys.length > 1 ? `and ${keys.length - 1} more` : null;
  const code = call.code === undefined ? "" : ` (${call.code})`;
  return {
    kind: "bucket",
    at,
    milliseconds,
    outcome,
    note: outcome === "error" ? `${text ?? "The bucket refused the call."}${code}` : more,
    source: client === "" ? "another process" : client,
    method,
    place: bucket,
    subject: key,
    bytes: isContent && outcome === "ok" ? bytes : null,
  };
}

export function queryEntry(query: LoggedQuery): NewCall {
  const { startedMilliseconds, milliseconds, name, type, transport, server, rcode, fault } = query;
  const outcome = rcode === "NOERROR" ? "ok" : rcode === "NXDOMAIN" ? "none" : "error";
  const remarks = [
    ...(rcode === null ? ["No answer"] : outcome === "ok" ? [] : [rcode]),
    ...(query.truncated ? ["truncated"] : []),
    ...(fault === null ? [] : [`fault ${fault}`]),
  ];
  return {
    kind: "query",
    at: startedMilliseconds,
    milliseconds: Math.max(0, milliseconds - startedMilliseconds),
    outcome,
    note: remarks.length === 0 ? null : remarks.join(", "),
    source: query.client ?? transport,
    method: type,
    place: server ?? "",
    subject: name,
    bytes: query.answerBytes,
  };
}

/** HTTP: the lowest status of an error. */
const errorStatus = 400;
/** HTTP: the lowest status of an error of the server. */
const failureStatus = 500;

/** A request for a name: where the edge has led it. */
export function edgeEntry(way: EdgeWay): NewCall {
  const { method, url, record, route, to, status, at, milliseconds } = way;
  return {
    kind: "edge",
    at,
    milliseconds,
    outcome: status >= failureStatus ? "error" : "ok",
    note: [record, route, to].filter((step) => step !== null).join(" → "),
    source: "client",
    method,
    place: "",
    subject: url,
    bytes: null,
    status,
  };
}

export function apiEntry(call: LoggedCall): NewCall {
  const { at, milliseconds, client, method, path, status, errors } = call;
  const [error] = errors;
  const hasFailed = status >= errorStatus;
  const text = error === undefined ? `Status ${status}` : `${error.message} (${error.code})`;
  return {
    kind: "api",
    at,
    milliseconds,
    outcome: hasFailed ? "error" : "ok",
    note: hasFailed ? text : null,
    source: client ?? "http",
    method,
    place: "",
    subject: path,
    bytes: null,
  };
}

const changedTopics: Readonly<Record<string, readonly ("objects" | "uploads" | "buckets")[]>> = {
  put: ["objects"],
  delete: ["objects"],
  createMultipartUpload: ["uploads"],
  abortMultipartUpload: ["uploads"],
  completeMultipartUpload: ["objects", "uploads"],
  createBucket: ["buckets"],
  deleteBucket: ["buckets"],
};

/** What a call of a bucket has changed. */
export function bucketChanges(
  call: Pick<FollowedCall, "bucket" | "outcome"> & { readonly method: string },
): Change[] {
  const { bucket, method, outcome } = call;
  if (outcome !== "ok") return [];
  return (changedTopics[method] ?? []).map((topic) =>
    topic === "buckets" ? { topic } : { topic, bucket },
  );
}

/** `/client/v4/zones/ID/…` */
const zonePath = /^\/client\/v4\/zones(?:\/([^/?]+))?([/?].*)?$/;

/** What a call of the record API has changed. */
export function apiChanges({ method, path, status }: LoggedCall): Change[] {
  const [matched, zone, rest = ""] = zonePath.exec(path) ?? [];
  if (method === "GET" || status >= errorStatus || matched === undefined) return [];
  if (zone === undefined) return [{ topic: "zones" }];
  if (!rest.startsWith("/")) return [{ topic: "zones" }, { topic: "records", zone }];
  // DNSSEC is a part of what the view of the records shows.
  return /^\/dns(?:_records|sec)\b/.test(rest) ? [{ topic: "records", zone }] : [];
}
