import { renameSync, rmSync, writeFileSync } from "node:fs";
import { UserError } from "../../../base/user-error.ts";
import type { Invocation } from "../../command.ts";
import { print } from "../output.ts";
import { withDns } from "../dns-session.ts";
import { findZone } from "../zone.ts";

export function exportRecords(invocation: Invocation): Promise<void> {
  const [word, file = "-"] = invocation.arguments as [string, string?];
  return withDns(invocation, async ({ api }) => {
    const zone = await findZone(api, word);
    const text = await api.exportFile(zone.id);
    if (file === "-") {
      print(invocation, { zone: zone.name, text }, text.replace(/\n$/, ""));
      return;
    }
    writeWhole(file, text);
    print(invocation, { zone: zone.name, file }, `Wrote ${zone.name} to ${file}.`);
  });
}

/** The file appears, or is replaced, when it is whole. */
function writeWhole(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.partial`;
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new UserError(`Cannot write ${path}: ${(error as Error).message}.`, { cause: error });
  }
}
