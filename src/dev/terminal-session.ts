/** A dev server in a terminal. It runs until a key or a signal ends it, and leaves no processes. */
import { emitKeypressEvents, type Key } from "node:readline";
import type { StartDevOptions } from "./dev-options.ts";
import type { DevServer } from "./dev-server.ts";
import { startDevServer } from "./start-dev.ts";
import { openBrowser } from "./open-browser.ts";
import { ownSignals, watchShell } from "./signals.ts";

/** The exit code of a session that Ctrl+C has ended, at any time: 128 + SIGINT. */
const interruptedCode = 130;

/** @returns the exit code */
export async function runTerminalSession(
  options: StartDevOptions,
  { interactive }: { interactive: boolean },
): Promise<number> {
  const ended = Promise.withResolvers<number>();
  let dev: DevServer | undefined;
  let isEnding = false;
  const end = (code: number): void => {
    // Before the server has started, there is nothing to stop in an orderly way, and the second request does
    // not wait. Runtimes and the bundler end with this process.
    if (isEnding || dev === undefined) process.exit(isEnding ? interruptedCode : code);
    isEnding = true;
    ended.resolve(code);
  };
  const releaseSignals = ownSignals((signal) => end(signal === "SIGINT" ? interruptedCode : 0));
  const releaseShell = watchShell(() => end(0));
  let releaseKeys: (() => void) | undefined;
  try {
    dev = await startDevServer(options);
    if (interactive) {
      releaseKeys = listenForKeys(dev, end);
    }
    return await ended.promise;
  } finally {
    releaseKeys?.();
    releaseShell();
    await dev?.stop();
    releaseSignals();
  }
}

const printText = (text: string): void => console.log(text);

/** @returns a function that ends the listening and resets the terminal */
function listenForKeys(dev: DevServer, end: (code: number) => void): () => void {
  // A terminal of unknown width has 0 columns.
  const printKeys = (): void =>
    printText(`\n${renderKeys(keys, process.stdout.columns || Infinity)}`);
  const keys = devKeys(dev, {
    openBrowser: (url) => void openBrowser(url),
    restart: () => void dev.restart().catch((error: Error) => console.error(error.message)),
    redraw: () =>
      void dev.summary().then((summary) => {
        console.clear();
        printText(summary);
        printKeys();
      }),
    end,
    print: printText,
  });
  void dev.ready.then(printKeys);
  const { stdin } = process;
  const onKey = (_: string | undefined, { name, ctrl, meta }: Key): void => {
    if (name === undefined || meta) return;
    pressKey(ctrl ? `ctrl-${name}` : name.toLowerCase(), keys, printText);
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

export interface KeyBinding {
  /** `q`, `ctrl-c`; the first key is shown. */
  readonly keys: readonly string[];
  /** Not shown without a label. */
  readonly label?: string;
  act(): void;
}

export interface KeyActions {
  openBrowser(url: string): void;
  restart(): void;
  /** Clears the screen and prints the summary again. */
  redraw(): void;
  /** @param code the exit code */
  end(code: number): void;
  print(text: string): void;
}

export type KeyContext = Pick<DevServer, "url" | "explorerUrl" | "inspector" | "scriptName">;

/**
 * The keys of a dev server on a terminal: those of `wrangler dev`, and ours. A key that means
 * something only in wrangler says so.
 */
export function devKeys(context: KeyContext, actions: KeyActions): KeyBinding[] {
  const { url, explorerUrl, inspector, scriptName } = context;
  const say = (text: string) => () => actions.print(text);
  return [
    { keys: ["b", "o"], label: "open a browser", act: () => actions.openBrowser(url) },
    inspector === null
      ? {
          keys: ["d"],
          act: say(
            "There is no inspector: web pages could use it. `ledge dev --inspector-port 9229` starts one.",
          ),
        }
      : {
          keys: ["d"],
          label: "open devtools",
          act: () => actions.openBrowser(devtoolsUrl(inspector, scriptName)),
        },
    explorerUrl === null
      ? { keys: ["e"], act: say("There is no explorer: leave out --no-explorer.") }
      : {
          keys: ["e"],
          label: "open the explorer",
          act: () => actions.openBrowser(explorerUrl),
        },
    { keys: ["r"], label: "restart", act: () => actions.restart() },
    { keys: ["c"], label: "clear console", act: () => actions.redraw() },
    { keys: ["x", "q", "ctrl-d"], label: "to exit", act: () => actions.end(0) },
    { keys: ["ctrl-c"], act: () => actions.end(interruptedCode) },
    {
      keys: ["t", "a"],
      act: say(
        `\`ledge dev\` has no tunnel: \`cloudflared tunnel --http-host-header localhost --url ${url}\` makes one.`,
      ),
    },
    { keys: ["l"], act: say("`ledge dev` has no remote mode: the script always runs here.") },
  ];
}

/** Lists the keys, in as many lines as a terminal of this width needs. */
export function renderKeys(bindings: readonly KeyBinding[], columns: number): string {
  const lines: string[] = [];
  for (const { keys, label } of bindings) {
    if (label === undefined) continue;
    const shown = `[${keys[0] as string}] ${label}`;
    const extended = lines.length === 0 ? shown : `${lines.at(-1)}  ${shown}`;
    if (lines.length === 0 || extended.length > columns) lines.push(shown);
    else lines[lines.length - 1] = extended;
  }
  return lines.join("\n");
}

/** Acts on a key, as `node:readline` names it. A letter without a meaning is answered with the keys. */
export function pressKey(
  pressed: string,
  bindings: readonly KeyBinding[],
  print: (text: string) => void,
): void {
  const binding = bindings.find(({ keys }) => keys.includes(pressed));
  if (binding !== undefined) binding.act();
  else if (/^[a-z0-9]$/.test(pressed)) {
    print(`[${pressed}] has no meaning here. ${renderKeys(bindings, Infinity)}`);
  }
}

/** The page that wrangler opens. It connects to the inspector from the user's browser. */
function devtoolsUrl(inspector: string, scriptName: string | undefined): string {
  const query = new URLSearchParams({
    theme: "systemPreferred",
    ws: `${inspector}/ws`,
    ...(scriptName !== undefined && { domain: scriptName }),
    debugger: "true",
  });
  return `https://devtools.devprod.cloudflare.dev/js_app?${query.toString()}`;
}
