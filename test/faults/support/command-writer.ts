/** Writes by `ledge store` commands, a process for each. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FaultProcess } from "./fault-process.ts";
import { ledgeProgram, type FaultProject } from "./tools.ts";
import type { Execute } from "./writer.ts";

/** @param onStart called with each command's process, which a test may kill */
export function throughCommands(
  { folder }: FaultProject,
  onStart: (command: FaultProcess) => void = () => {},
): Execute {
  const run = async (...words: string[]): Promise<string> => {
    const command = new FaultProcess([ledgeProgram, "store", ...words], { folder });
    onStart(command);
    const code = await command.exited;
    if (code !== 0) throw new Error(`ledge store ${words[0]}: exit ${code}\n${command.output}`);
    return command.output;
  };
  return async ({ method, key, body }) => {
    const address = `photos/${key}`;
    if (method === "delete") {
      await run("delete", address);
      return null;
    }
    // Commands have no uploads in several calls, and no conditions.
    if (method === "abort") {
      await run("stats", "photos");
      return null;
    }
    const file = join(folder, `${key.replaceAll("/", "-")}.bin`);
    writeFileSync(file, body as Uint8Array);
    const output = await run("put", address, file, "--json");
    return (JSON.parse(output) as { etag: string }).etag;
  };
}
