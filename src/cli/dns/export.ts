/** `ledge dns export` */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { UserError } from "../../base/user-error.ts";
import type { LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { serverOptions, withDns } from "./dns-session.ts";
import { findZone, zoneArgument } from "./find-zone.ts";

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

/** The file appears, or changes, only when it is complete. */
function writeZoneFile(path: string, text: string): void {
  const partial = `${path}.${process.pid}.partial`;
  try {
    writeFileSync(partial, text);
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new UserError(`Cannot write ${path}: ${(error as Error).message}.`, { cause: error });
  }
}
