/** The reply of a name server with its time and the state of its signatures, and the rules behind it. */
import { isIPv6 } from "node:net";
import type { ServerAddress } from "../config/dns-table.ts";
import { typeCodes } from "../wire/numbers.ts";
import {
  askHttps,
  askServer,
  httpsMilliseconds,
  type AskedQuestion,
  type AskOptions,
} from "./ask-server.ts";
import { checkSignatures } from "./check-signatures.ts";
import type { DigResult } from "./dig-report.ts";

/**
 * Asks the question, and measures the time until the answer arrives.
 *
 * @param server a name server, or the URL of an API, which answers over HTTPS
 * @throws UserError when no answer arrives
 */
export async function timeQuestion(
  question: AskedQuestion,
  server: ServerAddress | string,
  options: AskOptions,
): Promise<Omit<DigResult, "reasons">> {
  const ask = (asked: AskedQuestion) =>
    typeof server === "string"
      ? askHttps(asked, server, options)
      : askServer(asked, server, options);
  const start = performance.now();
  const reply = await ask(question);
  const milliseconds = Math.round(performance.now() - start);
  const fetchKeys = async (name: string) => {
    const { message } = await ask({ name, type: typeCodes.DNSKEY });
    return message.answers.filter(({ type }) => type === typeCodes.DNSKEY);
  };
  const nowSeconds = Math.floor(Date.now() / 1000);
  const signatures = options.dnssec
    ? await checkSignatures(reply.message, fetchKeys, nowSeconds)
    : null;
  return { question, reply, server: serverText(server), milliseconds, signatures };
}

function serverText(server: ServerAddress | string): string {
  if (typeof server === "string") return new URL(server).host;
  const { host, port } = server;
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Asks the API for the rules of the same answer; `null` when the server does not name them.
 *
 * @param url of the record API
 */
export async function fetchReasons(
  { name, type }: AskedQuestion,
  url: string,
  { dnssec = false }: AskOptions,
): Promise<DigResult["reasons"]> {
  const address = new URL("/dns-query", url);
  address.search = new URLSearchParams({
    name,
    type: String(type),
    explain: "true",
    ...(dnssec && { do: "true" }),
  }).toString();
  try {
    const response = await fetch(address, {
      headers: { accept: "application/dns-json" },
      signal: AbortSignal.timeout(httpsMilliseconds),
    });
    const { Reasons = null } = (await response.json()) as { Reasons?: DigResult["reasons"] };
    return Reasons;
  } catch {
    return null;
  }
}
