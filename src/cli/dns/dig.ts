/** `ledge dns dig` */
import { type AskedQuestion, parseQuestion, QuestionError } from "../../dns/client/ask-server.ts";
import { fetchReasons, timeQuestion, digJson, digText } from "../../dns/client/dig.ts";
import { UsageError, type LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { resolveServer, serverOptions, withDns } from "./session.ts";

export const dig: LeafCommand = {
  name: "dig",
  summary: "Asks a name server, and names the rules that produced the answer",
  details:
    "The query goes over UDP, and over TCP if the answer is too long. Only Ledge's own server names\n" +
    "its rules. Every answer is a success, NXDOMAIN included. With --dnssec, the signatures are\n" +
    "checked with the keys of their zone; the DS records above the zone are not.",
  arguments: [
    ["NAME", "A full name, or an IP address for a reverse lookup"],
    ["[TYPE]", "A type, or TYPE followed by its number; by default A"],
  ],
  options: {
    "--server HOST[:PORT]": "Another name server",
    "--tcp": "Sends the query over TCP",
    "--dnssec": "Asks for signatures, and checks them",
    ...serverOptions,
  },
  examples: [
    "ledge dns dig www.example.com",
    "ledge dns dig example.com MX --server 192.0.2.53",
    "ledge dns dig www.example.com --dnssec",
  ],

  async run(invocation, name, type?: string) {
    const question = readQuestion(name, type);
    const options = { tcp: invocation.flag("tcp"), dnssec: invocation.flag("dnssec") };
    const otherServer = invocation.text("server");
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

function readQuestion(name: string, type: string | undefined): AskedQuestion {
  try {
    return parseQuestion(name, type);
  } catch (error) {
    throw error instanceof QuestionError ? new UsageError(error.message) : error;
  }
}
