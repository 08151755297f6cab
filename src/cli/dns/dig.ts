/** `ledge dns dig` */
import { print } from "../output.ts";
import type { LeafCommand } from "../command.ts";
import { textOption } from "../options.ts";
import { serverOptions } from "./parameters.ts";

export const dig: LeafCommand = {
  name: "dig",
  summary: "Asks a name server, and names the rules that produced the answer",
  details:
    "The query goes over UDP, and over TCP if the answer is too long. Only Ledge's own server names\n" +
    "its rules. Every answer is a success, NXDOMAIN included.",
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
    ...serverOptions,
  },
  examples: ["ledge dns dig www.example.com", "ledge dns dig example.com MX --server 192.0.2.53"],

  async run(invocation) {
    const { digJson, digText, fetchReasons, parseQuestion, resolveServer, timeQuestion, withDns } =
      await import("./library.ts");
    const [name, type] = invocation.arguments as [string, string?];
    const question = parseQuestion(name, type);
    const tcp = invocation.options["tcp"] === true;
    const otherServer = textOption(invocation, "server");
    const result =
      otherServer === undefined
        ? await withDns(
            invocation,
            async ({ api, dns }) => {
              const target = dns === null ? { https: api.url } : { server: dns, tcp };
              const answer = await timeQuestion(question, target);
              return { ...answer, reasons: await fetchReasons(question, api.url) };
            },
            { listen: true },
          )
        : {
            ...(await timeQuestion(question, { server: await resolveServer(otherServer), tcp })),
            reasons: null,
          };
    print(invocation, digJson(result), digText(result));
  },
};
