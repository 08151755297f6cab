/** A dev server in a terminal. It runs until a key or a signal ends it, and leaves no processes. */
import { emitKeypressEvents, type Key } from "node:readline";
import { ChildProcesses } from "../base/child-processes.ts";
import { stopMilliseconds, within } from "../base/concurrency.ts";
import { startDev, type RunningDev } from "./dev-server.ts";
import type { StartDevOptions } from "./dev-options.ts";
import { ownSignals, watchShell } from "./signals.ts";

/** The exit status of a process that SIGINT ended: 128 + 2. */
const interruptedStatus = 130;

interface KeyBinding {
  /** `q`, `ctrl-c`; the first key is shown. */
  readonly keys: readonly string[];
  readonly label: string;
  act(): void;
}

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
  let dev: RunningDev | undefined;
  let releaseKeys: (() => void) | undefined;
  try {
    dev = await startDev(options);
    if (interactive) {
      const keys = keyBindings(dev, end);
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

function keyBindings(dev: RunningDev, end: () => void): KeyBinding[] {
  return [
    { keys: ["o", "b"], label: "open in a browser", act: () => void openBrowser(dev.url) },
    {
      keys: ["r"],
      label: "restart",
      act: () => void dev.restart().catch((error: Error) => console.error(error.message)),
    },
    { keys: ["c"], label: "clear", act: () => console.clear() },
    { keys: ["q", "x", "ctrl-c", "ctrl-d"], label: "quit", act: end },
  ];
}

/** One line that lists the keys. */
function renderKeys(bindings: readonly KeyBinding[]): string {
  return bindings.map(({ keys, label }) => `[${keys[0] as string}] ${label}`).join("  ");
}

/** @returns a function that ends the listening and resets the terminal */
function listenForKeys(bindings: readonly KeyBinding[]): () => void {
  const { stdin } = process;
  const onKey = (_: string | undefined, { name, ctrl, meta }: Key): void => {
    if (name === undefined || meta) return;
    const pressed = ctrl ? `ctrl-${name}` : name.toLowerCase();
    bindings.find(({ keys }) => keys.includes(pressed))?.act();
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

async function openBrowser(url: string): Promise<void> {
  try {
    const { default: open } = await import("open");
    await open(url);
  } catch {
    console.log(`This machine has no browser for ${url}.`);
  }
}
