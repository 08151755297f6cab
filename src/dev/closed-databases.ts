/**
 * Closes the databases of a runtime that goes on running, for a moment in which their files are replaced.
 *
 * The runtime closes a database when its Durable Object ends. Alarms and late calls begin objects anew at any time, so
 * the runtime is frozen while the files are replaced, and before that all objects end again until none has a database
 * open.
 */
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAlarms, isDns, isState } from "../saved/layout.ts";
import type { Restoration } from "../saved/restoration.ts";
import { freeze, openFiles } from "../saved/runtimes.ts";
import { asideEnding } from "../state/disk.ts";
import { persistPath } from "../state/folder.ts";

interface RunningRuntime {
  readonly processId: number;
  /** Ends all Durable Objects. */
  abortObjects(): Promise<void>;
  /** Whether no script runs. */
  isQuiet(): Promise<boolean>;
}

/** A script that never stops to call begins its objects anew for ever. */
const attemptsMax = 10;
const closeMilliseconds = 5;

/** Whether Durable Objects of scripts live, which have state in memory. */
export function hasAwakeObjects(stateFolder: string, processId: number): boolean {
  return openDatabases(stateFolder, processId).some((path) => path.startsWith("do/"));
}

/**
 * Ends the Durable Objects of a runtime and acts while the runtime is frozen and has no database open.
 *
 * @param act takes no time: the runtime waits
 * @returns `false` if a script runs on, or a database stays open. Then `act` was not called, the files are as they were,
 *   and the runtime was killed
 */
export async function whileClosed(
  stateFolder: string,
  runtime: RunningRuntime,
  restoration: Pick<Restoration, "setAside" | "bringBack">,
  act: () => void,
): Promise<boolean> {
  const { processId } = runtime;
  const aside = new Set<string>();
  for (let attempts = 1; ; attempts++) {
    // SQLite would move the log of a database that is closed into the database. An object that has begun anew has a
    // new database, which is removed.
    const open = openDatabases(stateFolder, processId).filter(
      (path) => !aside.has(path) && !path.endsWith(asideEnding),
    );
    if (open.length > 0) restoration.setAside(open);
    for (const path of open) aside.add(path);
    // A runtime that has ended has no database open.
    await runtime.abortObjects().catch(() => {});
    const isEnded = await runtime.isQuiet();
    const frozen = freeze([{ processId }], null);
    try {
      const isClosed = isEnded && openDatabases(stateFolder, processId).length === 0;
      if (isClosed || attempts === attemptsMax) {
        if (!isClosed) frozen.kill();
        restoration.bringBack();
        if (isClosed) act();
        return isClosed;
      }
    } catch (error) {
      // The files can be a mixture. The next runtime finishes the restoration before it starts.
      frozen.kill();
      throw error;
    } finally {
      frozen.thaw();
    }
    await delay(closeMilliseconds);
  }
}

/** Below the folder of Miniflare, with `/`. Without those that a runtime has open all its life, and those of DNS. */
function openDatabases(stateFolder: string, processId: number): string[] {
  const persist = realpathSync(persistPath(stateFolder)) + sep;
  const paths = openFiles(processId)
    .filter((path) => path.startsWith(persist))
    .map((path) => path.slice(persist.length).replaceAll(sep, "/"))
    .filter((path) => /\.sqlite(?:-aside)?$/.test(path) && isState(path));
  return [...new Set(paths)].filter((path) => !isAlarms(path) && !isDns(path));
}
