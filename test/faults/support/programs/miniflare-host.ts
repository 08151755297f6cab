/**
 * A process with plain Miniflare and the raw binding. Argument: the persist path. The variable
 * LEDGE_TEST_BUCKET has the options of the bucket, as JSON.
 * The program loads Miniflare, waits for the line `start`, starts, and prints its address; so a test
 * can prepare the next process while the last one works. The line `reload` restarts the runtime as
 * an edited script does. The line `start without descriptors` starts in a process that can open
 * no file in the moment in which it takes the lock of the store. The line `start another` starts another runtime, and `spawn` starts the same
 * program as a child process, whose lines begin with `child`.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { Log, LogLevel, Miniflare } from "miniflare";
import { bucketEntry, controlEntry, worker } from "../../../support/worker.ts";
import { faultScript } from "../fault-script.ts";

const [persistPath, prefix = ""] = process.argv.slice(2) as [string, string?];
const bucketOptions = process.env["LEDGE_TEST_BUCKET"];
const env = {
  CONTROL: controlEntry,
  ...(bucketOptions !== undefined && {
    BUCKET: bucketEntry(JSON.parse(bucketOptions) as Record<string, unknown>),
  }),
};
const print = (line: string): void => console.log(`${prefix}${line}`);

function options(revision: number) {
  return {
    resourcePersistencePath: persistPath,
    log: new Log(LogLevel.ERROR),
    workers: [worker(`${faultScript}\n// Revision ${revision}`, { env })],
    unsafeHandleRuntimeRestart: () => print("restarted"),
  };
}

let miniflare: Miniflare | undefined;
let revision = 0;

async function run(line: string): Promise<void> {
  switch (line) {
    case "start":
      miniflare = new Miniflare(options(revision));
      return print(`url ${String(await miniflare.ready)}`);
    case "start without descriptors":
      exhaustDescriptorsAtLock();
      return run("start");
    case "start another": {
      const another = new Miniflare(options(revision));
      return print(`another ${String(await another.ready)}`);
    }
    case "reload":
      await miniflare?.setOptions(options(++revision));
      return print(`reloaded ${revision} url ${String(await miniflare?.ready)}`);
    case "spawn": {
      const words = [import.meta.filename, persistPath, "child "];
      spawn(process.execPath, words, { stdio: ["ignore", "inherit", "inherit"] });
    }
  }
}

/** The next attempt to take the lock of the store finds no free descriptor. */
function exhaustDescriptorsAtLock(): void {
  const getBuiltinModule = process.getBuiltinModule.bind(process);
  const sqlite = getBuiltinModule("node:sqlite");
  class DatabaseWithoutDescriptors extends sqlite.DatabaseSync {
    constructor(path: string, settings: object = {}) {
      const files: number[] = [];
      if (path.endsWith("store/lock")) {
        process.getBuiltinModule = getBuiltinModule;
        print("no descriptors");
        openAll(files);
      }
      try {
        super(path, settings);
      } finally {
        files.forEach((file) => closeSync(file));
      }
    }
  }
  process.getBuiltinModule = (name: string) =>
    name === "node:sqlite"
      ? { ...sqlite, DatabaseSync: DatabaseWithoutDescriptors }
      : getBuiltinModule(name);
}

function openAll(files: number[]): void {
  try {
    for (;;) files.push(openSync("/dev/null", "r"));
  } catch {
    // No descriptor is left.
  }
}

print("loaded");
// A child process has no standard input, and outlives its parent.
if (prefix !== "") await run("start");
else for await (const line of createInterface({ input: process.stdin })) void run(line);
