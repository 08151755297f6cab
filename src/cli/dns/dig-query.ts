/** The question of `ledge dns dig`, and the ways to ask it. */
import { isIP, isIPv6 } from "node:net";
import { nearest } from "../../base/nearest.ts";
import {
  askHttps,
  askServer,
  type AskedQuestion,
  type DnsReply,
} from "../../dns/client/ask-server.ts";
import { lookUpServer, type ServerAddress } from "../../config/server-address.ts";
import { parseIpv4, parseIpv6 } from "../../dns/record/field/ip-address.ts";
import { toAsciiName } from "../../dns/record/punycode.ts";
import { recordTypes } from "../../dns/record/registry.ts";
import { encodeName } from "../../dns/wire/name.ts";
import { typeCodes } from "../../dns/wire/numbers.ts";
import { WireError } from "../../dns/wire/bytes.ts";
import { UsageError } from "../command.ts";
import type { DigResult, AnswerReason } from "./dig-report.ts";
import { codeOfType, otherTypeNames } from "./type-names.ts";

/** Asks the question, and measures the time until the answer arrives. */
export async function timeQuestion(
  question: AskedQuestion,
  target: { server: ServerAddress; tcp: boolean } | { https: string },
): Promise<Omit<DigResult, "reasons">> {
  const start = performance.now();
  const reply: DnsReply =
    "https" in target
      ? await askHttps(question, target.https)
      : await askServer(question, target.server, target);
  return {
    question,
    reply,
    server: "https" in target ? new URL(target.https).host : serverText(target.server),
    milliseconds: Math.round(performance.now() - start),
  };
}

function serverText({ host, port }: ServerAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

export async function resolveServer(text: string): Promise<ServerAddress> {
  const server = await lookUpServer(text);
  if (server !== null) return server;
  throw new UsageError(`--server must be HOST or HOST:PORT of a name server, not "${text}".`);
}

/** Asks the API for the rules of the same answer; `null` when the server does not name them. */
export async function fetchReasons(
  { name, type }: AskedQuestion,
  url: string,
): Promise<AnswerReason[] | null> {
  const address = new URL("/dns-query", url);
  address.search = new URLSearchParams({ name, type: String(type), explain: "true" }).toString();
  try {
    const response = await fetch(address, { headers: { accept: "application/dns-json" } });
    const { Reasons = null } = (await response.json()) as { Reasons?: AnswerReason[] | null };
    return Reasons;
  } catch {
    return null;
  }
}

export function parseQuestion(nameWord: string, typeWord: string | undefined): AskedQuestion {
  const isAddress = isIP(nameWord) !== 0 && typeWord === undefined;
  const name = isAddress ? reverseName(nameWord) : asciiName(nameWord);
  const type = isAddress ? typeCodes.PTR : parseQueryType(typeWord ?? "A");
  try {
    encodeName(name);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new UsageError(`"${nameWord}" is not a domain name: ${error.message}.`);
  }
  return { name, type };
}

function asciiName(word: string): string {
  const name = toAsciiName(word);
  return name.length > 1 ? name.replace(/\.$/, "") : name;
}

function parseQueryType(word: string): number {
  const code = codeOfType(word);
  if (code !== null && code > 0) return code;
  const guess = nearest(word.toUpperCase(), [...recordTypes.keys(), ...otherTypeNames, "ANY"]);
  throw new UsageError(
    `There is no record type "${word}". ` +
      (guess === null ? "TYPE followed by a number names any type." : `Did you mean ${guess}?`),
  );
}

/** RFC 1035 section 3.5 and RFC 3596 section 2.5. */
function reverseName(address: string): string {
  const ipv4 = parseIpv4(address);
  if (ipv4 !== null) return `${[...ipv4].toReversed().join(".")}.in-addr.arpa`;
  const digits = Buffer.from(parseIpv6(address) ?? []).toString("hex");
  return `${Array.from(digits).toReversed().join(".")}.ip6.arpa`;
}
