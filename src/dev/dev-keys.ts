/**
 * The keys of a dev server on a terminal: those of `wrangler dev`, and ours. A key that means
 * something only in wrangler says so.
 */
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
  end(): void;
  print(text: string): void;
}

export interface KeyContext {
  readonly url: string;
  /** `null` without an explorer. */
  readonly explorerUrl: string | null;
  /** The address of the inspector; `null` without an inspector. */
  readonly inspector: string | null;
  readonly scriptName: string | undefined;
}

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
    { keys: ["x", "q", "ctrl-c", "ctrl-d"], label: "to exit", act: () => actions.end() },
    {
      keys: ["t", "a"],
      act: say(`\`ledge dev\` has no tunnel: \`cloudflared tunnel --url ${url}\` makes one.`),
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
