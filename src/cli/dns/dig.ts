/** `ledge dns dig` */
import { UserError } from "../../base/user-error.ts";
import {
  parseQuestion,
  QuestionError,
  type AskedQuestion,
  type AskOptions,
  type Stream,
} from "../../dns/client/ask-server.ts";
import {
  digJson,
  digText,
  fetchReasons,
  timeQuestion,
  timeTransfer,
  transferJson,
  transferText,
} from "../../dns/client/dig.ts";
import type { ServerAddress } from "../../dns/config/dns-table.ts";
import { UsageError, type Invocation, type LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { resolveServer, serverOptions, withDns } from "./session.ts";

export const dig: LeafCommand = {
  name: "dig",
  summary: "Asks a name server, and names the rules that produced the answer",
  details:
    "The query goes over UDP, and over TCP if the answer is too long. Only Ledge's own server names\n" +
    "its rules. Every answer is a success, NXDOMAIN included. With --dnssec, the signatures are\n" +
    "checked with the keys of their zone; the DS records above the zone are not. AXFR prints a zone\n" +
    "as a zone file, and IXFR=SERIAL its changes since that serial; both go over TCP or TLS.",
  arguments: [
    ["NAME", "A full name, or an IP address for a reverse lookup"],
    ["[TYPE]", "A type, or TYPE followed by its number, AXFR or IXFR=SERIAL; by default A"],
  ],
  options: {
    "--server HOST[:PORT]": "Another name server",
    "--tcp": "Sends the query over TCP",
    "--tls": "Sends the query over TLS, and does not check the certificate",
    "--dnssec": "Asks for signatures, and checks them",
    ...serverOptions,
  },
  examples: [
    "ledge dns dig www.example.com",
    "ledge dns dig example.com MX --server 192.0.2.53",
    "ledge dns dig www.example.com --dnssec",
    "ledge dns dig example.com AXFR",
  ],

  async run(invocation, name, type?: string) {
    const asked = readAsked(invocation, name, type);
    const { stream } = asked.options;
    const otherServer = invocation.text("server");
    if (otherServer !== undefined) {
      const port = stream === "tls" ? tlsPort : undefined;
      return printAnswer(invocation, asked, await resolveServer("server", otherServer, port), null);
    }
    await withDns(
      invocation,
      async ({ api, dns, tls }) => {
        const listener = stream === "tls" ? tls : dns;
        if (listener === null && stream !== undefined) throw noListenerError(api.url, stream);
        await printAnswer(invocation, asked, listener ?? api.url, api.url);
      },
      { need: "listeners" },
    );
  },
};

interface Asked {
  readonly question: AskedQuestion;
  readonly options: AskOptions;
  /** `undefined` when no transfer is asked for; a serial asks for the changes since that serial. */
  readonly transfer?: { readonly fromSerial?: number };
}

/** @param apiUrl of a server that names its rules */
async function printAnswer(
  invocation: Invocation,
  { question, options, transfer }: Asked,
  server: ServerAddress | string,
  apiUrl: string | null,
): Promise<void> {
  if (transfer !== undefined && typeof server !== "string") {
    const { fromSerial } = transfer;
    const result = await timeTransfer(question.name, fromSerial, server, options.stream);
    print(invocation, transferJson(result), transferText(result));
    return;
  }
  const timed = await timeQuestion(question, server, options);
  const reasons = apiUrl === null ? null : await fetchReasons(question, apiUrl, options);
  print(invocation, digJson({ ...timed, reasons }), digText({ ...timed, reasons }));
}

/** Of DNS over TLS (RFC 7858 section 3.1). */
const tlsPort = 853;
const serialMax = 2 ** 32 - 1;

function readAsked(invocation: Invocation, name: string, type: string | undefined): Asked {
  const [tcp, tls, dnssec] = ["tcp", "tls", "dnssec"].map((flag) => invocation.flag(flag));
  if (tcp && tls) throw new UsageError("--tcp and --tls exclude each other: use one of them.");
  const [, transferType, serial] = /^(AXFR|IXFR)(?:=(.*))?$/i.exec(type ?? "") ?? [];
  const question = readQuestion(name, transferType ?? type);
  const stream = tls ? "tls" : tcp || transferType !== undefined ? "tcp" : undefined;
  const options = { stream, dnssec } as const;
  if (transferType === undefined) return { question, options };
  if (dnssec) {
    throw new UsageError("A transfer has no signatures to check: leave out --dnssec.");
  }
  if (transferType.toUpperCase() === "AXFR" && serial === undefined) {
    return { question, options, transfer: {} };
  }
  const fromSerial = /^\d+$/.test(serial ?? "") ? Number(serial) : NaN;
  if (transferType.toUpperCase() === "IXFR" && fromSerial <= serialMax) {
    return { question, options, transfer: { fromSerial } };
  }
  throw new UsageError(
    `TYPE must be AXFR, or IXFR=SERIAL with the serial of the zone that you have, not "${type}".`,
  );
}

function noListenerError(url: string, stream: Stream): UserError {
  return new UserError(
    stream === "tcp"
      ? `No TCP port of the server is known, only its API at ${url}: name the port with --server.`
      : `The server has no port of DNS over TLS: set tls_port in [dns], start "ledge dns serve ` +
          '--tls-port 8853", or name a port with --server.',
  );
}

function readQuestion(name: string, type: string | undefined): AskedQuestion {
  try {
    return parseQuestion(name, type);
  } catch (error) {
    throw error instanceof QuestionError ? new UsageError(error.message) : error;
  }
}
