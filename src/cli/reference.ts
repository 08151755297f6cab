/** The generated part of docs/cli.md: the help of every command. */
import type { Command } from "./command.ts";
import { renderHelp } from "./help.ts";

const [begin, end] = ["<!-- commands: npm run docs:cli -->", "<!-- /commands -->"];

/** Returns the page with its generated part up to date. */
export function withReference(page: string, root: Command): string {
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)];
  if (start === -1 || stop < start) throw new Error(`The page has no ${begin} … ${end}`);
  const reference = commandsOf(root, [root.name]).map(
    ({ command, path }) =>
      `### ${path.join(" ")}\n\n\`\`\`text\n${renderHelp(command, path)}\n\`\`\`\n`,
  );
  return `${page.slice(0, start)}${begin}\n\n${reference.join("\n")}\n${page.slice(stop)}`;
}

/** Every command with the words that lead to it; a group comes before its commands. */
export function commandsOf(
  command: Command,
  path: readonly string[],
): { command: Command; path: readonly string[] }[] {
  const inside = "commands" in command ? command.commands : [];
  return [{ command, path }, ...inside.flatMap((each) => commandsOf(each, [...path, each.name]))];
}
