import { isIP, isIPv6 } from "node:net";
import { typeCodes } from "../../../dns/wire/numbers.ts";
import { encodeName } from "../../../dns/wire/name.ts";
import { WireError } from "../../../dns/wire/bytes.ts";
import { parseIpv4, parseIpv6 } from "../../../dns/record/field/ip-address.ts";
import { toAsciiName } from "../../../dns/record/punycode.ts";
import { recordTypes } from "../../../dns/record/registry.ts";
import { nearest } from "../../../base/nearest.ts";
import {
  askHttps,
  askServer,
  type AskedQuestion,
  type DnsReply,
} from "../../../dns/client/ask-server.ts";
import { lookUpServer, type ServerAddress } from "../../../dns/client/server-address.ts";
import { UsageError, type Invocation } from "../../command.ts";
import { digJson, digText, type DigResult, type Reason } from "../dig-report.ts";
import { print, textOption } from "../output.ts";
import { withDns } from "../dns-session.ts";
import { askedType, otherTypes } from "../shown-type.ts";

export async function dig(invocation: Invocation): Promise<void> {
  const [name, type] = invocation.arguments as [string, string?];
  const question = questionOf(name, type);
  const tcp = invocation.options["tcp"] === true;
  const given = textOption(invocation, "server");
  const result =
    given === undefined
      ? await withDns(
          invocation,
          async ({ api, dns }) => {
            const asked = dns === null ? { https: api.url } : { server: dns, tcp };
            const answer = await timed(question, asked);
            return { ...answer, reasons: await reasonsFor(question, api.url) };
          },
          { listen: true },
        )
      : { ...(await timed(question, { server: await serverOf(given), tcp })), reasons: null };
  print(invocation, digJson(result), digText(result));
}

async function timed(
  question: AskedQuestion,
  asked: { server: ServerAddress; tcp: boolean } | { https: string },
): Promise<Omit<DigResult, "reasons">> {
  const start = performance.now();
  const reply: DnsReply =
    "https" in asked
      ? await askHttps(question, asked.https)
      : await askServer(question, asked.server, asked);
  return {
    question,
    reply,
    server: "https" in asked ? new URL(asked.https).host : serverText(asked.server),
    milliseconds: Math.round(performance.now() - start),
  };
}

function serverText({ host, port }: ServerAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

async function serverOf(text: string): Promise<ServerAddress> {
  const server = await lookUpServer(text);
  if (server !== null) return server;
  throw new UsageError(`--server must be HOST or HOST:PORT of a name server, not "${text}".`);
}

/** By the same rules, from the same zones; `null` when the server is none of ours. */
async function reasonsFor({ name, type }: AskedQuestion, url: string): Promise<Reason[] | null> {
  const address = new URL("/dns-query", url);
  address.search = new URLSearchParams({ name, type: String(type), explain: "true" }).toString();
  try {
    const response = await fetch(address, { headers: { accept: "application/dns-json" } });
    const { Reasons = null } = (await response.json()) as { Reasons?: Reason[] | null };
    return Reasons;
  } catch {
    return null;
  }
}

function questionOf(nameWord: string, typeWord: string | undefined): AskedQuestion {
  const isAddress = isIP(nameWord) !== 0 && typeWord === undefined;
  const name = isAddress ? reverseName(nameWord) : plainName(nameWord);
  const type = isAddress ? typeCodes.PTR : typeOf(typeWord ?? "A");
  try {
    encodeName(name);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new UsageError(`"${nameWord}" is no domain name: ${error.message}.`);
  }
  return { name, type };
}

function plainName(word: string): string {
  const name = toAsciiName(word);
  return name.length > 1 ? name.replace(/\.$/, "") : name;
}

function typeOf(word: string): number {
  const code = askedType(word);
  if (code !== null && code > 0) return code;
  const guess = nearest(word.toUpperCase(), [...recordTypes.keys(), ...otherTypes, "ANY"]);
  throw new UsageError(
    `There is no record type "${word}". ` +
      (guess === null ? "TYPE and a number stand for any." : `Did you mean ${guess}?`),
  );
}

/** RFC 1035 section 3.5 and RFC 3596 section 2.5. */
function reverseName(address: string): string {
  const ipv4 = parseIpv4(address);
  if (ipv4 !== null) return `${[...ipv4].toReversed().join(".")}.in-addr.arpa`;
  const digits = Buffer.from(parseIpv6(address) ?? []).toString("hex");
  return `${Array.from(digits).toReversed().join(".")}.ip6.arpa`;
}
