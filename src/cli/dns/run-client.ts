/** `ledge dns run` */
import type { Argument, LeafCommand } from "../command.ts";
import { configSelection, projectOptions } from "../options.ts";
import { findListeners, projectZones } from "./dns-session.ts";

const program: Argument = {
  name: "COMMAND",
  summary: "The client and its arguments, after --",
  repeated: true,
};
const { json: _, ...options } = projectOptions;

export const runClient: LeafCommand = {
  name: "run",
  summary: "Runs a client of the record API that insists on https and a fixed host",
  details:
    "The client trusts the authority of the state folder, and https to a host in https_names of [dns]\n" +
    "leads to the DNS of this project: by HTTPS_PROXY on every system, and on Linux by a hosts file\n" +
    "that only the client sees. Clients that ignore HTTPS_PROXY need the latter and port 443, which\n" +
    "root may open; remarks say what the system does not permit. The exit code is the client's.",
  arguments: [program],
  options,
  examples: [
    "ledge dns run -- curl https://api.cloudflare.com/client/v4/zones",
    "ledge dns run -- acme.sh --issue --dns dns_cf -d example.com",
  ],

  async run(invocation) {
    const { readConfig } = await import("../../config/read-config.ts");
    const { readDnsConfig } = await import("../../dns/config/dns-config.ts");
    const { runInReach } = await import("./client-process.ts");
    const project = readConfig({ ...configSelection(invocation), keysOptional: true });
    const zones = await projectZones(invocation, project);
    return runInReach(invocation.arguments, {
      folder: zones.folder,
      names: readDnsConfig(zones.variables).httpsNames,
      start: () => findListeners(zones, project),
    });
  },
};
