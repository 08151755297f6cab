/**
 * All commands. Their files hold descriptions and light code; a command imports the runtime, the
 * configuration reader and the DNS library inside `run`, so that `--help` stays fast.
 */
import type { CommandGroup } from "./command.ts";
import { dev } from "./dev.ts";
import { dnsCommands } from "./dns/index.ts";
import { init } from "./init.ts";
import { storeCommands } from "./store/index.ts";
import { types } from "./types.ts";

export const root: CommandGroup = {
  name: "ledge",
  summary: "A local edge: runs and tests edge scripts with object storage and DNS",
  commands: [dev, init, types, storeCommands, dnsCommands],
};
