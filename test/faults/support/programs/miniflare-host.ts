/**
 * A process with plain Miniflare and the raw binding. Argument: the persist path.
 * The program loads Miniflare, waits for the line `start`, starts, and prints its address; so a test
 * can prepare the next process while the last one works. The line `reload` restarts the runtime as
 * an edited script does. The line `start without descriptors` does so in a process that can
 * open no file for a while. The line `start another` starts another runtime, and `spawn` starts the same
 * program as a child process, whose lines begin with `child`.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Server } from "node:net";
import { createInterface } from "node:readline";
import { Log, LogLevel, Miniflare } from "miniflare";
import { plugin, worker } from "../../../support/worker.ts";
import { faultScript } from "../fault-script.ts";

const [persistPath, prefix = ""] = process.argv.slice(2) as [string, string?];
const print = (line: string): void => console.log(`${prefix}${line}`);

function options(revision: number) {
  return {
    resourcePersistencePath: persistPath,
    log: new Log(LogLevel.ERROR),
    workers: [worker(`${faultScript}\n// Revision ${revision}`)],
    unsafeHandleRuntimeRestart: () => print("restarted"),
  };
}

let miniflare: Miniflare | undefined;
let revision = 0;

async function run(text: string): Promise<void> {
  const [line, ...rest] = text.split(": ") as [string, ...string[]];
  switch (line) {
    case "start":
      miniflare = new Miniflare(options(revision));
      return print(`url ${String(await miniflare.ready)}`);
    case "start without descriptors":
      // Miniflare loads the plugin at its start.
      await import(plugin.package);
      exhaustDescriptors(Number(rest[0]));
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

/**
 * Opens files until the process may open only `left` more, from the moment in which Miniflare
 * listens: then the plugin decides which process owns the folder. Closes the files after a while.
 */
function exhaustDescriptors(left: number): void {
  const prototype = Server.prototype as { listen: (...words: unknown[]) => Server };
  const listen = prototype.listen;
  prototype.listen = function (this: Server, ...words: unknown[]) {
    prototype.listen = listen;
    this.once("listening", () => {
      const files: number[] = [];
      try {
        for (;;) files.push(openSync("/dev/null", "r"));
      } catch {
        for (const file of files.splice(0, left)) closeSync(file);
        setTimeout(() => files.forEach((file) => closeSync(file)), 1000);
      }
    });
    return listen.apply(this, words);
  };
}

print("loaded");
// A child process has no standard input, and outlives its parent.
if (prefix !== "") await run("start");
else for await (const line of createInterface({ input: process.stdin })) void run(line);
