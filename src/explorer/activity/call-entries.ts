/** Entries of calls and queries that the script's trace does not have. */
import type { LoggedQuery } from "../../dns/fault/observed-queries.ts";
import type { LoggedCall } from "../../dns/rules/api-call.ts";
import type { FollowedCall } from "../../store/client/message.ts";
import type { CallEntry } from "../api/activity.ts";

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
    bytes: null,
  };
}

/** HTTP: the lowest status of an error. */
const errorStatus = 400;

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
