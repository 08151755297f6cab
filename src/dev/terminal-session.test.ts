import { describe, expect, it } from "vitest";
import { devKeys, pressKey, renderKeys, type KeyContext } from "./terminal-session.ts";

const url = "http://localhost:8787";
const plain: KeyContext = {
  url,
  explorerUrl: "http://localhost:8790/?token=t",
  inspector: null,
  scriptName: "photos",
};

/** What pressing a key does, as text. */
function press(key: string, context: KeyContext = plain): string[] {
  const done: string[] = [];
  const print = (text: string) => void done.push(text);
  const keys = devKeys(context, {
    openBrowser: (opened) => void done.push(`open ${opened}`),
    restart: () => void done.push("restart"),
    redraw: () => void done.push("redraw"),
    end: (code) => void done.push(`end ${code}`),
    print,
  });
  pressKey(key, keys, print);
  return done;
}

describe("devKeys()", () => {
  it.each([
    ["b", `open ${url}`],
    ["o", `open ${url}`],
    ["e", "open http://localhost:8790/?token=t"],
    ["r", "restart"],
    ["c", "redraw"],
    ["x", "end 0"],
    ["q", "end 0"],
    ["ctrl-c", "end 130"],
    ["ctrl-d", "end 0"],
  ])("%s: %s", (key, done) => {
    expect(press(key)).toEqual([done]);
  });

  it("opens wrangler's devtools at the inspector", () => {
    const context = { ...plain, inspector: "127.0.0.1:9229" };
    expect(press("d", context)).toEqual([
      "open https://devtools.devprod.cloudflare.dev/js_app?theme=systemPreferred&ws=127.0.0.1%3A9229%2Fws&domain=photos&debugger=true",
    ]);
  });

  it.each([
    ["d", "There is no inspector"],
    ["t", "`ledge dev` has no tunnel"],
    ["a", "`ledge dev` has no tunnel"],
    ["l", "`ledge dev` has no remote mode"],
    ["z", "[z] has no meaning here. [b] open a browser  [e] open the explorer"],
  ])("%s says why nothing happens: %s", (key, text) => {
    expect(press(key)).toEqual([expect.stringContaining(text)]);
  });

  it("says why there is no explorer", () => {
    expect(press("e", { ...plain, explorerUrl: null })).toEqual([
      "There is no explorer: leave out --no-explorer.",
    ]);
  });

  it.each(["return", "space", "up", "ctrl-l"])("is silent for %s", (key) => {
    expect(press(key)).toEqual([]);
  });
});

describe("renderKeys()", () => {
  const actions = { openBrowser() {}, restart() {}, redraw() {}, end() {}, print() {} };

  it("lists the keys that do something, in one line", () => {
    expect(renderKeys(devKeys(plain, actions), 100)).toBe(
      "[b] open a browser  [e] open the explorer  [r] restart  [c] clear console  [x] to exit",
    );
  });

  it("takes as many lines as a narrow terminal needs", () => {
    const context = { ...plain, inspector: "127.0.0.1:9229", explorerUrl: null };
    expect(renderKeys(devKeys(context, actions), 40)).toBe(
      "[b] open a browser  [d] open devtools\n[r] restart  [c] clear console\n[x] to exit",
    );
  });
});
