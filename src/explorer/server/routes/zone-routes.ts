/** Zones: the record API, and lookups at the name server. */
import { parseServer } from "../../../dns/config/dns-table.ts";
import { digJson, digText, fetchReasons, timeQuestion } from "../../../dns/client/dig.ts";
import { parseQuestion } from "../../../dns/client/ask-server.ts";
import type { LookupAnswer } from "../../api/zones-api.ts";
import { json, requireParameter } from "../call.ts";
import { type ExplorerCall, type Route } from "../context.ts";
import { forwardCall, requireDns } from "../record-api-forward.ts";
import { changeRecord, createRecord, describeRecordTypes } from "../record-writes.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const recordApiRoutes = methods.map((method): Route => ({
  method,
  path: "/api/dns/*",
  handle: (call) => forwardCall(call, method),
}));

async function lookUp(call: ExplorerCall): Promise<LookupAnswer> {
  const { apiUrl, addresses, headers } = await requireDns(call);
  const name = requireParameter(call, "name").trim();
  const type = call.query.get("type")?.trim() ?? "";
  const question = parseQuestion(name, type === "" ? undefined : type);
  const options = { dnssec: call.query.get("dnssec") === "true", headers };
  // A project may serve no port for queries; the API then answers by HTTPS.
  const ports = call.query.get("transport") === "https" ? [] : addresses;
  const server = ports.map(parseServer).find((address) => address !== null) ?? apiUrl;
  const timed = await timeQuestion(question, server, options);
  const reasons = await fetchReasons(question, apiUrl, options);
  const { status, answers } = digJson({ ...timed, reasons });
  return {
    // The page lists the rules itself.
    text: digText({ ...timed, reasons: null }),
    rcode: status,
    answers,
    reasons,
    milliseconds: timed.milliseconds,
  };
}

const recordsPath = "/api/dns/zones/:zone/dns_records";

export const zoneRoutes: readonly Route[] = [
  { method: "POST", path: recordsPath, handle: createRecord },
  { method: "PATCH", path: `${recordsPath}/:record`, handle: changeRecord },
  ...recordApiRoutes,
  { method: "GET", path: "/api/record-types", handle: async () => json(describeRecordTypes()) },
  { method: "GET", path: "/api/lookup", handle: async (call) => json(await lookUp(call)) },
];
