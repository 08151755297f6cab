import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { UserError } from "../base/user-error.ts";
import type { Command, Invocation } from "./command.ts";
import { runCommand, systemErrorText } from "./run.ts";

async function run(...words: string[]) {
  const calls: Invocation[] = [];
  const put: Command = {
    name: "put",
    aliases: ["store"],
    summary: "Puts a file",
    arguments: [
      ["KEY", "the object's key"],
      ["[FILE]", "what to put"],
    ],
    options: {
      "--json": "Machine-readable output",
      "-p, --port PORT": "Where to listen (default: 8787)",
      "--var NAME:VALUE...": "A variable",
      "--mode MODE": "fast or safe",
    },
    choices: { mode: ["fast", "safe"] },
    examples: ["ledge put a.txt"],
    async run(invocation) {
      calls.push(invocation);
      if (invocation.arguments[0] === "missing") throw new UserError("There is no such object.");
      if (invocation.arguments[0] === "odd") return 3;
    },
  };
  const dns = { name: "dns", summary: "Zones", commands: async () => [{ ...put, name: "dig" }] };
  const root = { name: "ledge", summary: "A local edge", commands: async () => [put, dns] };
  const lines: string[] = [];
  const code = await runCommand(root, words, {
    out: (text) => lines.push(text),
    error: (text) => lines.push(`! ${text}`),
  });
  return { code, calls, text: lines.join("\n") };
}

describe("runCommand()", () => {
  it("hands over arguments and options", async () => {
    const { code, calls } = await run("put", "a", "-p", "1", "--json", "--var", "A:1", "--var=B:2");
    expect(code).toBe(0);
    expect(calls).toMatchObject([
      { arguments: ["a"], options: { port: "1", json: true, var: ["A:1", "B:2"] } },
    ]);
  });

  it("knows a command by each of its names", async () => {
    expect((await run("store", "a")).calls).toMatchObject([{ arguments: ["a"] }]);
    expect((await run("stoer", "a")).text).toContain('Did you mean "store"?');
  });

  it("takes words after -- as arguments", async () => {
    const { calls } = await run("put", "--", "--help", "-x");
    expect(calls[0]?.arguments).toEqual(["--help", "-x"]);
  });

  it("passes on the exit code of a command", async () => {
    expect(await run("put", "odd")).toMatchObject({ code: 3 });
  });

  it("says a mistake of the user without a stack, with exit code 1", async () => {
    expect(await run("put", "missing")).toMatchObject({
      code: 1,
      text: "! There is no such object.",
    });
  });

  it.each([
    [["pot"], 'There is no command "pot". Did you mean "put"?'],
    [["frobnicate"], 'There is no command "frobnicate".'],
    [["dig"], 'There is no command "dig". Did you mean "ledge dns dig"?'],
    [["put"], "KEY is missing: the object's key"],
    [["put", "a", "b", "c"], 'The argument "c" is one too many.'],
    [["put", "a", "--prot", "1"], "There is no option --prot. Did you mean --port?"],
    [["put", "a", "-x"], "There is no option -x."],
    [["put", "a", "--port"], "--port needs a value: --port PORT."],
    [["put", "a", "--json=yes"], '--json takes no value: leave out "yes".'],
    [["put", "a", "--mode", "slow"], '--mode must be fast or safe, not "slow".'],
  ])("refuses %j with exit code 2, and nothing runs", async (words, message) => {
    const { code, calls, text } = await run(...words);
    expect(code).toBe(2);
    expect(calls).toEqual([]);
    expect(text).toContain(`! ${message}\n! Run "ledge`);
  });

  it("prints the help of a command and of the whole", async () => {
    expect((await run("put", "--help")).text).toBe(
      [
        "Puts a file",
        "",
        "Usage: ledge put KEY [FILE] [options]",
        "       ledge store KEY [FILE] [options]",
        "",
        "Arguments:",
        "  KEY   the object's key",
        "  FILE  what to put",
        "",
        "Options:",
        "  --json            Machine-readable output",
        "  -p, --port PORT   Where to listen (default: 8787)",
        "  --var NAME:VALUE  A variable (may be repeated)",
        "  --mode MODE       fast or safe",
        "  -h, --help        Prints this help",
        "",
        "Examples:",
        "  ledge put a.txt",
      ].join("\n"),
    );
    expect(await run("-h")).toMatchObject({ code: 0 });
    const { code, text } = await run();
    expect(code).toBe(2);
    expect(text).toContain("  put, store  Puts a file");
  });
});

const module = new URL("./run.ts", import.meta.url).href;

/** A process that has a temporary file and waits. It says "cleaned" when its cleanup has run. */
const program = `
  import { withCleanup, withTemporaryPath } from ${JSON.stringify(module)};
  await withCleanup(
    () => withTemporaryPath(process.argv[1], () => {
      console.log("ready");
      return new Promise((resolve) => setTimeout(resolve, 60_000));
    }),
    async () => console.log("cleaned"),
  );`;

describe("withCleanup() and withTemporaryPath()", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("clean up after %s, and end with %i", async (signal, code) => {
    const folder = mkdtempSync(join(tmpdir(), "ledge-unit-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "partial");
    writeFileSync(path, "half");
    const child = spawn(process.execPath, ["--input-type=module", "-e", program, path]);
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    while (!output.includes("ready")) await once(child.stdout, "data");
    child.kill(signal);
    const [ended] = (await once(child, "close")) as [number];
    expect({ ended, output, exists: existsSync(path) }).toEqual({
      ended: code,
      output: "ready\ncleaned\n",
      exists: false,
    });
  });
});

function errorOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

it("systemErrorText() names the file and the reason", () => {
  expect(systemErrorText(errorOf(() => readFileSync("/none/file")))).toBe(
    "Cannot use /none/file: no such file or directory (ENOENT).",
  );
});

it("systemErrorText() leaves other errors alone", () => {
  expect(systemErrorText(new TypeError("x is not a function"))).toBeNull();
  expect(systemErrorText("text")).toBeNull();
});
