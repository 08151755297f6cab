/** `ledge dns export` */
import type { LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { serverOptions, zoneArgument } from "./parameters.ts";

export const exportRecords: LeafCommand = {
  name: "export",
  summary: "Writes a zone as a zone file",
  arguments: [
    zoneArgument,
    { name: "FILE", summary: "The zone file; by default standard output", optional: true },
  ],
  options: serverOptions,
  examples: ["ledge dns export example.com example.com.zone"],

  async run(invocation) {
    const { findZone, withDns, writeZoneFile } = await import("./library.ts");
    const [word, file = "-"] = invocation.arguments as [string, string?];
    await withDns(invocation, async ({ api }) => {
      const zone = await findZone(api, word);
      const text = await api.exportFile(zone.id);
      if (file === "-") {
        print(invocation, { zone: zone.name, text }, text.replace(/\n$/, ""));
        return;
      }
      writeZoneFile(file, text);
      print(invocation, { zone: zone.name, file }, `Wrote ${zone.name} to ${file}.`);
    });
  },
};
