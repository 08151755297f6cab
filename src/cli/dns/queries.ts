/**
 * `ledge dns queries`: what a running server was asked. The server keeps its last queries, so that the
 * command shows those from before its start. To follow, the command asks again and again: it leaves
 * no log behind in the server, in whatever way it ends.
 */
import { setTimeout as delay } from "node:timers/promises";
import { matchesPattern, toPlainPattern } from "../../base/fault-schedule.ts";
import type { ApiClient, ApiQuery } from "../../dns/client/api-client.ts";
import { QueryWindow } from "../../dns/fault/query-log.ts";
import type { Invocation, LeafCommand } from "../command.ts";
import { print, printRemark } from "../output.ts";
import { serverOptions, withDns } from "./session.ts";

export const queries: LeafCommand = {
  name: "queries",
  summary: "Shows the queries that a running server was asked",
  details:
    "The columns: the time of the answer, the transport, the client, the response code, type and name\n" +
    "of the query, the octets of query and answer, the time it took, flags, and the fault that hit the\n" +
    "query. The server keeps its last 200 queries, those of DNS over HTTPS apart. With --json, each\n" +
    "query is one line; docs/testing-dns.md has the fields.",
  options: {
    "-f, --follow": "Continues with the queries that come, until an interrupt",
    "-n, --count NUMBER":
      "At most so many of the last queries (default: all that the server keeps)",
    "--name NAME": "Only queries for this name, in which * stands for any characters",
    "--type TYPE": "Only queries of this type",
    "--transport TRANSPORT": "Only queries by udp, tcp, tls or https",
    "--rcode CODE": "Only queries that were answered with this code, such as NXDOMAIN",
    ...serverOptions,
  },
  choices: { transport: ["udp", "tcp", "tls", "https"] },
  examples: [
    "ledge dns queries",
    "ledge dns queries --follow --name '*.example.com'",
    "ledge dns queries --json --rcode SERVFAIL",
  ],

  async run(invocation) {
    const count = invocation.integer("count") ?? Infinity;
    const isWanted = filterOf(invocation);
    const show = (query: ApiQuery): void => print(invocation, query, describeQuery(query));
    await withDns(
      invocation,
      async ({ api }) => {
        const window = new QueryWindow<ApiQuery>(({ time }) => Date.parse(time));
        const first = window.take(await api.queries(0)).filter(isWanted);
        for (const query of first.slice(Math.max(0, first.length - count))) show(query);
        if (invocation.flag("follow"))
          await follow(api, window, (query) => {
            if (isWanted(query)) show(query);
          });
        else if (first.length === 0) printRemark("No queries.");
      },
      { need: "server" },
    );
  },
};

/** A server keeps 200 queries: the command has all of them up to some 1000 in a second. */
const askMilliseconds = 100;
/** Half of what the server keeps: the next question must not be late. */
const busyCount = 100;

async function follow(
  api: ApiClient,
  window: QueryWindow<ApiQuery>,
  show: (query: ApiQuery) => void,
): Promise<never> {
  for (;;) {
    const found = window.take(await api.queries(window.sinceMilliseconds));
    if (window.hasGap) printRemark("Some queries are missing: the server kept too few.");
    for (const query of found) show(query);
    if (found.length < busyCount) await delay(askMilliseconds);
  }
}

function filterOf(invocation: Invocation): (query: ApiQuery) => boolean {
  const given = (name: string) => invocation.text(name);
  const name = given("name")
    ?.toLowerCase()
    .replace(/(?<=.)\.$/, "");
  const pattern = name === undefined ? null : toPlainPattern(name);
  const type = given("type")?.toUpperCase();
  const rcode = given("rcode")?.toUpperCase();
  const transport = given("transport");
  return (query) =>
    (pattern === null || matchesPattern(pattern, query.name)) &&
    (type === undefined || type === query.type) &&
    (rcode === undefined || rcode === query.rcode) &&
    (transport === undefined || transport === query.transport);
}

/** Columns of fixed width: queries that come later have the same. */
function describeQuery(query: ApiQuery): string {
  const { answerBytes, queryBytes, durationMilliseconds, clientSubnet, fault } = query;
  const columns = [
    query.time.slice(11, 23),
    query.transport.padEnd(5),
    (query.clientAddress ?? "-").padEnd(21),
    (query.rcode ?? "no answer").padEnd(9),
    query.type.padEnd(6),
    query.askedName,
  ];
  const details = [
    `${queryBytes ?? 0}/${answerBytes ?? 0} octets`,
    `${durationMilliseconds < 10 ? durationMilliseconds.toFixed(1) : Math.round(durationMilliseconds)} ms`,
    [...query.flags, ...(query.truncated ? ["tc"] : [])].join(" "),
    clientSubnet === null ? "" : `subnet ${clientSubnet}`,
    fault === null ? "" : `fault ${fault}`,
  ];
  return `${columns.join("  ")}  ${details.filter((text) => text !== "").join(", ")}`;
}
