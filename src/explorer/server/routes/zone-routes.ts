/** Zones: the record API, and questions to the name server. */
import { parseServer } from "../../../dns/config/dns-table.ts";
import { digJson, digText, fetchReasons, timeQuestion } from "../../../dns/client/dig.ts";
import { parseQuestion } from "../../../dns/client/ask-server.ts";
import type { AskAnswer } from "../../api/zones-api.ts";
import { json, requireParameter, type ExplorerCall, type Route } from "../call.ts";
import { forwardCall, requireDns } from "../record-api-forward.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const recordApiRoutes = methods.map((method): Route => ({
  method,
  path: "/api/dns/*",
  handle: (call) => forwardCall(call, method),
}));

async function ask(call: ExplorerCall): Promise<AskAnswer> {
  const { apiUrl, addresses } = await requireDns(call);
  const name = requireParameter(call, "name").trim();
  const type = call.query.get("type")?.trim() ?? "";
  const question = parseQuestion(name, type === "" ? undefined : type);
  const options = { dnssec: call.query.get("dnssec") === "true" };
  // A project may serve no port for queries; the API then answers over HTTPS.
  const server = addresses.map(parseServer).find((address) => address !== null) ?? apiUrl;
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

export const zoneRoutes: readonly Route[] = [
  ...recordApiRoutes,
  { method: "GET", path: "/api/ask", handle: async (call) => json(await ask(call)) },
];
