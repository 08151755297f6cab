/**
 * A dev server in a terminal: it runs until a key or a signal ends it, and then leaves nothing
 * behind.
 */
import { ChildProcesses } from "../base/child-processes.ts";
import { listenForKeys, renderKeys, type KeyBinding } from "./keys.ts";
import { openBrowser } from "./open-browser.ts";
import type { StartDevOptions } from "./options.ts";
import { ownSignals, watchShell } from "./signals.ts";
import { startDev, type RunningDev } from "./start.ts";
import { stopMilliseconds, within } from "../base/concurrency.ts";

/** Settles when the session has ended. */
export async function runDevSession(
  options: StartDevOptions,
  { interactive }: { interactive: boolean },
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let isEnding = false;
  const end = (): void => {
    // Who asks twice does not want to wait; runtimes are killed on the way out.
    if (isEnding) process.exit(130);
    isEnding = true;
    ended.resolve();
  };
  const releaseSignals = ownSignals(end);
  const releaseShell = watchShell(end);
  const children = new ChildProcesses();
  let dev: RunningDev | undefined;
  let releaseKeys: (() => void) | undefined;
  try {
    dev = await startDev(options);
    if (interactive) {
      const keys = keysOf(dev, end);
      releaseKeys = listenForKeys(keys);
      void dev.ready.then(() => console.log(renderKeys(keys)));
    }
    await ended.promise;
  } finally {
    releaseKeys?.();
    releaseShell();
    await dev?.stop();
    await within(stopMilliseconds, children.end());
    releaseSignals();
  }
}

function keysOf(dev: RunningDev, end: () => void): KeyBinding[] {
  return [
    {
      keys: ["o", "b"],
      label: "open in a browser",
      act: () => openBrowser(dev.url, () => console.log(`There is no browser to open ${dev.url}.`)),
    },
    {
      keys: ["r"],
      label: "restart",
      act: () => void dev.restart().catch((error: Error) => console.error(error.message)),
    },
    { keys: ["c"], label: "clear", act: () => console.clear() },
    { keys: ["q", "x", "ctrl-c", "ctrl-d"], label: "quit", act: end },
  ];
}
