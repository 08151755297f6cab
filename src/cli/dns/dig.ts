/** `ledge dns dig` */
import { isIP, isIPv6 } from "node:net";
import { nearest } from "../../base/nearest.ts";
import type { ServerAddress } from "../../config/server-address.ts";
import {
  askHttps,
  askServer,
  type AskedQuestion,
  type AskOptions,
} from "../../dns/client/ask-server.ts";
import { checkSignatures } from "../../dns/client/check-signatures.ts";
import { parseIpv4, parseIpv6 } from "../../dns/record/field/ip-address.ts";
import { toAsciiName } from "../../dns/record/punycode.ts";
import { recordTypes } from "../../dns/record/registry.ts";
import { WireError } from "../../dns/wire/bytes.ts";
import { encodeName } from "../../dns/wire/name.ts";
import { typeCodes } from "../../dns/wire/numbers.ts";
import { UsageError, type LeafCommand } from "../command.ts";
import { textOption } from "../options.ts";
import { print } from "../output.ts";
import { digJson, digText, type DigResult } from "./dig-report.ts";
import { resolveServer, serverOptions, withDns } from "./dns-session.ts";
import { codeOfType, otherTypeNames } from "./type-names.ts";

export const dig: LeafCommand = {
  name: "dig",
  summary: "Asks a name server, and names the rules that produced the answer",
  details:
    "The query goes over UDP, and over TCP if the answer is too long. Only Ledge's own server names\n" +
    "its rules. Every answer is a success, NXDOMAIN included. With --dnssec, the signatures are\n" +
    "checked with the keys of their zone; the DS records above the zone are not.",
  arguments: [
    { name: "NAME", summary: "A full name, or an IP address for a reverse lookup" },
    {
      name: "TYPE",
      summary: "A type, or TYPE followed by its number; by default A",
      optional: true,
    },
  ],
  options: {
    server: { summary: "Another name server", value: "HOST[:PORT]" },
    tcp: { summary: "Sends the query over TCP" },
    dnssec: { summary: "Asks for signatures, and checks them" },
    ...serverOptions,
  },
  examples: [
    "ledge dns dig www.example.com",
    "ledge dns dig example.com MX --server 192.0.2.53",
    "ledge dns dig www.example.com --dnssec",
  ],

  async run(invocation) {
    const [name, type] = invocation.arguments as [string, string?];
    const question = parseQuestion(name, type);
    const options = {
      tcp: invocation.options["tcp"] === true,
      dnssec: invocation.options["dnssec"] === true,
    };
    const otherServer = textOption(invocation, "server");
    const result =
      otherServer === undefined
        ? await withDns(
            invocation,
            async ({ api, dns }) => ({
              ...(await timeQuestion(question, dns ?? api.url, options)),
              reasons: await fetchReasons(question, api.url, options),
            }),
            { listen: true },
          )
        : {
            ...(await timeQuestion(question, await resolveServer("server", otherServer), options)),
            reasons: null,
          };
    print(invocation, digJson(result), digText(result));
  },
};

function parseQuestion(nameWord: string, typeWord: string | undefined): AskedQuestion {
  const isAddress = isIP(nameWord) !== 0 && typeWord === undefined;
  const name = isAddress ? reverseName(nameWord) : toAsciiName(nameWord).replace(/(?!^)\.$/, "");
  const type = isAddress ? typeCodes.PTR : parseQueryType(typeWord ?? "A");
  try {
    encodeName(name);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new UsageError(`"${nameWord}" is not a domain name: ${error.message}.`);
  }
  return { name, type };
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

/**
 * Asks the question, and measures the time until the answer arrives.
 *
 * @param server a name server, or the URL of an API, which answers over HTTPS
 */
async function timeQuestion(
  question: AskedQuestion,
  server: ServerAddress | string,
  options: AskOptions,
) {
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

/** Asks the API for the rules of the same answer; `null` when the server does not name them. */
async function fetchReasons(
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
    const response = await fetch(address, { headers: { accept: "application/dns-json" } });
    const { Reasons = null } = (await response.json()) as { Reasons?: DigResult["reasons"] };
    return Reasons;
  } catch {
    return null;
  }
}
