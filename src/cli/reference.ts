/** The generated part of docs/cli.md: the help of every command. */
import type { Command } from "./command.ts";
import { renderHelp } from "./help.ts";

const [begin, end] = ["<!-- commands: scripts/write-cli-docs.ts -->", "<!-- /commands -->"];

/** Returns the page with its generated part up to date. */
export async function withReference(page: string, root: Command): Promise<string> {
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)];
  if (start === -1 || stop < start) throw new Error(`The page has no ${begin} … ${end}`);
  let reference = "";
  for (const { command, path } of await commandsOf(root, [root.name])) {
    const help = await renderHelp(command, path);
    reference += `### ${path.join(" ")}\n\n\`\`\`text\n${help}\n\`\`\`\n\n`;
  }
  return `${page.slice(0, start)}${begin}\n\n${reference}${page.slice(stop)}`;
}

/** Every command with the words that lead to it; a group comes before its commands. */
export async function commandsOf(
  command: Command,
  path: readonly string[],
): Promise<{ command: Command; path: readonly string[] }[]> {
  const commands = [{ command, path }];
  const inside = "commands" in command ? await command.commands() : [];
  for (const each of inside) commands.push(...(await commandsOf(each, [...path, each.name])));
  return commands;
}
