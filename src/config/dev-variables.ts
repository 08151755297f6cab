/** `.dev.vars`: secrets for local use, beside the configuration file. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

/** An environment may have a file of its own, which then stands instead of the common one. */
export function readDevVariables(folder: string, environment?: string): Record<string, string> {
  const own = environment === undefined ? null : join(folder, `.dev.vars.${environment}`);
  const path = own !== null && existsSync(own) ? own : join(folder, ".dev.vars");
  if (!existsSync(path)) return {};
  return parseEnv(readFileSync(path, "utf8")) as Record<string, string>;
}
