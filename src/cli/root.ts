/**
 * All commands. A group loads its commands when the command line names the group: they import the
 * configuration reader, the client of the store and the DNS library, which `ledge --help` does not
 * need.
 */
import type { CommandGroup } from "./command.ts";
import { build } from "./build.ts";
import { completionOf } from "./completion/completion.ts";
import { dev } from "./dev.ts";
import { explore } from "./explore.ts";
import { init } from "./init.ts";
import { s3 } from "./s3.ts";
import { types } from "./types.ts";

const store: CommandGroup = {
  name: "store",
  summary: "The buckets of a project: list, put, get, import, export",
  commands: async () => (await import("./store/index.ts")).storeCommands,
};

const dns: CommandGroup = {
  name: "dns",
  summary: "The zones of a project: list, add, set, import, export, dig",
  commands: async () => (await import("./dns/index.ts")).dnsCommands,
};

export const root: CommandGroup = {
  name: "ledge",
  summary: "A local edge: runs and tests edge scripts with object storage and DNS",
  commands: async () => [
    dev,
    build,
    init,
    types,
    store,
    s3,
    dns,
    explore,
    completionOf(() => root),
  ],
};
