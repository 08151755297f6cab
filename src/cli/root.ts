/**
 * All commands. A group loads its commands when the command line names the group: they import the
 * configuration reader, the client of the store and the DNS library, which `ledge --help` does not
 * need. The commands here load such modules when they run.
 */
import { build } from "./build.ts";
import type { CommandGroup } from "./command.ts";
import { completionOf } from "./completion.ts";
import { dev } from "./dev.ts";
import { init } from "./init.ts";
import { openName, runClient, runProgram } from "./names.ts";
import { runCommand } from "./run.ts";
import { explore, s3, serveDns } from "./serve.ts";
import { types } from "./types.ts";

const store: CommandGroup = {
  name: "store",
  summary: "The buckets of a project: list, put, get, import, export",
  async commands() {
    const [listing, objects, copies, { presign }, imports, exports, backups, maintenance] =
      await Promise.all([
        import("./store/listing.ts"),
        import("./store/objects.ts"),
        import("./store/copy.ts"),
        import("./store/presign.ts"),
        import("./store/import.ts"),
        import("./store/export.ts"),
        import("./store/backup.ts"),
        import("./store/maintenance.ts"),
      ]);
    return [
      listing.listBuckets,
      listing.listObjects,
      listing.ls,
      listing.head,
      objects.get,
      objects.put,
      objects.deleteObjects,
      copies.copy,
      copies.move,
      copies.sync,
      presign,
      imports.importObjects,
      exports.exportObjects,
      backups.backup,
      backups.restore,
      maintenance.stats,
      maintenance.check,
      maintenance.collectGarbage,
      maintenance.reset,
    ];
  },
};

const dns: CommandGroup = {
  name: "dns",
  summary: "The zones of a project: list, add, set, import, export, dig, serve",
  async commands() {
    const [
      zones,
      { dnssec },
      records,
      { importRecords },
      { dig },
      { faults },
      { queries },
      { trust },
    ] = await Promise.all([
      import("./dns/zones.ts"),
      import("./dns/dnssec.ts"),
      import("./dns/records.ts"),
      import("./dns/import.ts"),
      import("./dns/dig.ts"),
      import("./dns/query-faults.ts"),
      import("./dns/queries.ts"),
      import("./dns/trust.ts"),
    ]);
    return [
      zones.zones,
      records.listRecords,
      records.add,
      records.set,
      records.deleteRecords,
      importRecords,
      zones.exportRecords,
      dnssec,
      dig,
      serveDns,
      faults,
      queries,
      trust,
      runClient,
    ];
  },
};

const state: CommandGroup = {
  name: "state",
  summary: "The state of a project: save, restore, reset, diff, export, import",
  async commands() {
    const [states, archives] = await Promise.all([
      import("./state/saved-states.ts"),
      import("./state/archives.ts"),
    ]);
    return [
      states.save,
      states.restore,
      states.reset,
      states.listStates,
      states.deleteStates,
      states.diff,
      archives.exportArchive,
      archives.importArchive,
    ];
  },
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
    state,
    runProgram,
    openName,
    explore,
    completionOf(() => root),
  ],
};

/**
 * Runs `ledge` with these words.
 *
 * @returns the exit code
 */
export function runLedge(words: readonly string[]): Promise<number> {
  return runCommand(root, words, {
    out: (text) => void process.stdout.write(`${text}\n`),
    error: (text) => void process.stderr.write(`${text}\n`),
  });
}
