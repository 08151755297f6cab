/** `ledge dns faults`: faults of the queries to a running server. */
import { counted, formatTable } from "../../base/format.ts";
import { UserError } from "../../base/user-error.ts";
import { parseFaultSpec } from "../../config/fault-spec.ts";
import type { CountedFault } from "../../dns/fault/armed-faults.ts";
import type { QueryFaultInput } from "../../dns/fault/query-fault.ts";
import { UsageError, type LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { serverOptions, withDns } from "./session.ts";

export const faults: LeafCommand = {
  name: "faults",
  summary: "Lists, adds and clears faults of the queries to a running server",
  details:
    "SPEC is KIND:NAME[/TYPE][:OPTION,…], as of ledge dev --fault without dns: before it;\n" +
    "docs/testing-dns.md has the kinds and the options. A fault is in force when the command ends,\n" +
    "until it is cleared or the server ends. The list has the numbers of queries that each fault\n" +
    "matches and has hit.",
  arguments: [
    ["[ACTION]", "list, add or clear; by default list"],
    ["[SPEC]", "The fault to add"],
  ],
  options: serverOptions,
  choices: { ACTION: ["list", "add", "clear"] },
  examples: [
    "ledge dns faults",
    "ledge dns faults add servfail:www.example.com/A:times=2",
    "ledge dns faults add 'delay:*.example.com:2s,transport=udp'",
    "ledge dns faults clear",
  ],

  async run(invocation, action = "list", spec?: string) {
    if (action === "add" && spec === undefined) {
      throw new UsageError(`SPEC is missing: ${example}`);
    }
    if (action !== "add" && spec !== undefined) {
      throw new UsageError(`"${spec}" is one argument too many: ${action} concerns all faults.`);
    }
    const added = spec === undefined ? null : parseQueryFault(spec, "SPEC");
    const need = { need: "server" } as const;
    await withDns(
      invocation,
      async ({ api }) => {
        const before = await api.queryFaults();
        if (added !== null) {
          const all = await api.addQueryFault(added);
          print(invocation, all, `Added. ${counted(all.length, "fault")} in force.`);
        } else if (action === "clear") {
          const left = await api.clearQueryFaults();
          print(invocation, left, describeCleared(before.length - left.length, left.length));
        } else print(invocation, before, describeFaults(before));
      },
      need,
    );
  },
};

const example = "an example is servfail:www.example.com/A:times=2.";

/**
 * @param name what the message calls the text
 * @throws UsageError
 */
export function parseQueryFault(spec: string, name: string): QueryFaultInput {
  try {
    const parsed = parseFaultSpec(spec.startsWith("dns:") ? spec : `dns:${spec}`, { name });
    return parsed.fault as QueryFaultInput;
  } catch (error) {
    throw error instanceof UserError ? new UsageError(error.message) : error;
  }
}

function describeCleared(cleared: number, left: number): string {
  const text = `Cleared ${counted(cleared, "fault")}.`;
  if (left === 0) return text;
  return `${text} ${counted(left, "fault")} of ledge dev --fault or of the explorer stay in force.`;
}

/** A line for each fault, in the words of SPEC. */
function describeFaults(all: readonly CountedFault[]): string {
  if (all.length === 0) return "No faults.";
  const rows = all.map(({ kind, name, zone, type, matches, hits, ...rest }) => {
    const types = type === undefined ? "" : `/${[type].flat().join(",")}`;
    const options = Object.entries(rest).flatMap(([field, values]) =>
      [values].flat().map((value) => `${field}=${String(value)}`),
    );
    return [
      kind.replaceAll("_", "-"),
      `${name ?? zone ?? "*"}${types}`,
      options.join(","),
      `matched ${matches}, hit ${hits}`,
    ];
  });
  return formatTable(rows);
}
