/** A dev server in a terminal. It runs until a key or a signal ends it, and leaves no processes. */
import { emitKeypressEvents, type Key } from "node:readline";
import { ChildProcesses } from "../base/runtime-patches.ts";
import { stopMilliseconds, within } from "../base/concurrency.ts";
import { startDevServer, type DevServer } from "./dev-server.ts";
import { devKeys, pressKey, renderKeys, type KeyBinding } from "./dev-keys.ts";
import type { StartDevOptions } from "./dev-options.ts";
import { openBrowser } from "./open-browser.ts";
import { ownSignals, watchShell } from "./signals.ts";

/** The exit status of a process that SIGINT ended: 128 + 2. */
const interruptedStatus = 130;

/** Settles when the session has ended. */
export async function runTerminalSession(
  options: StartDevOptions,
  { interactive }: { interactive: boolean },
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let isEnding = false;
  const end = (): void => {
    // The second request does not wait. Miniflare kills its runtimes when the process exits.
    if (isEnding) process.exit(interruptedStatus);
    isEnding = true;
    ended.resolve();
  };
  const releaseSignals = ownSignals(end);
  const releaseShell = watchShell(end);
  const children = new ChildProcesses();
  let dev: DevServer | undefined;
  let releaseKeys: (() => void) | undefined;
  try {
    dev = await startDevServer(options);
    if (interactive) {
      const keys = keysOf(dev, end);
      releaseKeys = listenForKeys(keys);
      void dev.ready.then(() => printKeys(keys));
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

function keysOf(dev: DevServer, end: () => void): KeyBinding[] {
  const keys = devKeys(dev, {
    openBrowser: (url) => void openBrowser(url),
    restart: () => void dev.restart().catch((error: Error) => console.error(error.message)),
    redraw: () => void redraw(dev, keys),
    end,
    print: (text) => console.log(text),
  });
  return keys;
}

async function redraw(dev: DevServer, keys: readonly KeyBinding[]): Promise<void> {
  const summary = await dev.summary();
  console.clear();
  console.log(summary);
  printKeys(keys);
}

function printKeys(keys: readonly KeyBinding[]): void {
  // A terminal of unknown width has 0 columns.
  console.log(`\n${renderKeys(keys, process.stdout.columns || Infinity)}`);
}

/** @returns a function that ends the listening and resets the terminal */
function listenForKeys(bindings: readonly KeyBinding[]): () => void {
  const { stdin } = process;
  const onKey = (_: string | undefined, { name, ctrl, meta }: Key): void => {
    if (name === undefined || meta) return;
    const pressed = ctrl ? `ctrl-${name}` : name.toLowerCase();
    pressKey(pressed, bindings, (text) => console.log(text));
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on("keypress", onKey);
  return () => {
    stdin.off("keypress", onKey);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
