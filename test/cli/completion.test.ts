/** The completion of shells: each shell that is installed completes words on a terminal. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createProject } from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { hasTerminal, TerminalCommand } from "../support/terminal.ts";

const program = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

function hasProgram(name: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((path) => existsSync(join(path, name)));
}

async function scriptOf(shell: string): Promise<string> {
  const { code, out, error } = await runInProcess(tmpdir(), ["completion", shell]);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  return out;
}

/** `ledge` prints its words, so that the test sees what the shell has completed. */
const shells: Record<string, { setUp: string[]; start: string; function: string }> = {
  bash: {
    start: "bash --norc --noprofile -i",
    setUp: ["bind 'set bell-style none'"],
    function: "ledge() { printf '<%s>' \"$@\"; echo; }",
  },
  zsh: {
    start: "zsh -i",
    setUp: ["autoload -Uz compinit", "compinit -u -D"],
    function: "ledge() { printf '<%s>' \"$@\"; echo; }",
  },
  fish: {
    start: "fish --no-config -i",
    setUp: [],
    function: "function ledge; printf '<%s>' $argv; echo; end",
  },
};

const lines: [typed: string, expected: string][] = [
  ["ledge sto\tpu\tphotos/cat ca\t", "<store><put><photos/cat><cat.png>"],
  ["ledge store put --content-t\tx", "<store><put><--content-type><x>"],
  [
    "ledge dev --local-protocol=http --log-level deb\t",
    "<dev><--local-protocol=http><--log-level><debug>",
  ],
  ["ledge dev --env-file secret\t", "<dev><--env-file><secrets.txt>"],
  ["ledge store rm --rec\tphotos/a", "<store><rm><--recursive><photos/a>"],
  ["ledge help sto\tgc", "<help><store><gc>"],
  ["ledge comp\tfi\t", "<completion><fish>"],
  ["ledge --vers\t", "<--version>"],
];

describe.each(Object.entries(shells))(
  "ledge completion %s",
  (shell, { start, setUp, function: echo }) => {
    it.runIf(hasTerminal && hasProgram(shell))("completes on a terminal", async () => {
      const folder = createProject({
        "cat.png": "",
        "secrets.txt": "",
        script: await scriptOf(shell),
        ".zshrc": "",
      });
      const terminal = new TerminalCommand(start, folder, { ZDOTDIR: folder, HOME: folder });
      for (const line of [...setUp, echo, "source ./script"]) terminal.type(`${line}\n`);
      for (const [typed, expected] of lines) {
        terminal.type(`${typed}\n`);
        await terminal.waitForOutput(new RegExp(expected.replaceAll(/[.$]/g, "\\$&")));
      }
      terminal.type("exit\n");
      expect(await terminal.exited).toBe(0);
    });

    it("begins with the way to install it", async () => {
      const script = await scriptOf(shell);
      expect(script.split("\n", 4).join("\n")).toMatch(
        new RegExp(
          `Completion of ledge for ${shell}\\. For this shell: .*ledge completion ${shell}`,
        ),
      );
    });
  },
);

it("ledge completion refuses another shell", () => {
  expect(() =>
    execFileSync(process.execPath, [program, "completion", "csh"], { stdio: "pipe" }),
  ).toThrow('SHELL must be bash, zsh or fish, not "csh".');
});
