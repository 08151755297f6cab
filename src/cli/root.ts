/** All commands. A module of a command is loaded when it runs, so that `--help` answers at once. */
import type { CommandGroup } from "./command.ts";
import { dev } from "./dev.ts";
import { dns } from "./dns.ts";
import { init } from "./init.ts";
import { store } from "./store.ts";
import { types } from "./types.ts";

export const root: CommandGroup = {
  name: "ledge",
  summary: "A local edge: run and test edge scripts with object storage and DNS.",
  commands: [dev, init, types, store, dns],
};
