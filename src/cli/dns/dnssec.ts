/** `ledge dns dnssec` */
import type { ApiDnssec } from "../../dns/client/api-client.ts";
import { UsageError, type LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { serverOptions, withDns } from "./dns-session.ts";
import { findZone, zoneArgument } from "./find-zone.ts";

const actions = new Set(["on", "off", "status"]);

export const dnssec: LeafCommand = {
  name: "dnssec",
  summary: "Signs a zone, or shows the DS record for its parent",
  details:
    "A parent zone on the same server gets the DS record by itself. Without an action, the state is\n" +
    "shown. The keys stay when DNSSEC is turned off, so that the DS record is the same later.",
  arguments: [zoneArgument, { name: "ACTION", summary: "on, off or status", optional: true }],
  options: serverOptions,
  examples: ["ledge dns dnssec example.com on", "ledge dns dnssec example.com status"],

  async run(invocation) {
    const [word, action = "status"] = invocation.arguments as [string, string?];
    if (!actions.has(action)) {
      throw new UsageError(`ACTION must be on, off or status, not "${action}".`);
    }
    await withDns(invocation, async ({ api }) => {
      const zone = await findZone(api, word);
      const state =
        action === "status"
          ? await api.dnssec(zone.id)
          : await api.changeDnssec(zone.id, action === "on" ? "active" : "disabled");
      print(invocation, state, describeState(zone.name, state));
    });
  },
};

function describeState(zoneName: string, { status, ds }: ApiDnssec): string {
  if (status === "disabled") return `DNSSEC of ${zoneName} is off.`;
  if (status === "active") return `DNSSEC of ${zoneName} is on. The DS record:\n${ds}`;
  return (
    `DNSSEC of ${zoneName} is on, and the parent zone has no DS record: give the parent zone NS ` +
    `records for ${zoneName}, and it gets the DS record by itself:\n${ds}`
  );
}
