/** The reference in docs/cli.md: it is the help of every command. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandsOf, withReference } from "../../src/cli/help.ts";
import { root } from "../../src/cli/root.ts";
import { runCommand } from "../../src/cli/run.ts";

const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");
const commands = await commandsOf(root, [root.name]);

describe("docs/cli.md", () => {
  it("is up to date; if not, run `npx node scripts/write-cli-docs.ts`", async () => {
    expect(page).toBe(await withReference(page, root));
  });

  it.each(commands.map(({ path }) => path.join(" ")))("has the help of %s", async (name) => {
    const lines: string[] = [];
    const output = { out: (text: string) => void lines.push(text), error: () => {} };
    expect(await runCommand(root, [...name.split(" ").slice(1), "--help"], output)).toBe(0);
    expect(page).toContain(`### ${name}\n\n\`\`\`text\n${lines.join("\n")}\n\`\`\`\n`);
  });

  it("has no other command", () => {
    const headings = Array.from(page.matchAll(/^### (ledge.*)$/gm), ([, name]) => name);
    expect(headings).toEqual(commands.map(({ path }) => path.join(" ")));
  });
});

describe("the help", () => {
  it.each(commands.map(({ command, path }) => [path.join(" "), command] as const))(
    "of %s describes every command, argument and option",
    async (_, command) => {
      const summaries =
        "commands" in command
          ? (await command.commands()).map(({ summary }) => summary)
          : [
              ...Object.values(command.options ?? {}),
              ...(command.arguments ?? []).map(([, summary]) => summary),
            ];
      for (const summary of [command.summary, ...summaries]) expect(summary).toMatch(/\S{2,} \S+/);
    },
  );
});
