/** The text of `--help`, from the description of a command, and all of these texts for docs/cli.md. */
import { argumentsOf, namesOf, optionsOf, type Command, type LeafCommand } from "./command.ts";

/** @param path the words that lead to the command: `["ledge", "store", "put"]` */
export async function renderHelp(command: Command, path: readonly string[]): Promise<string> {
  const [root = "", ...words] = path;
  const sections =
    "commands" in command
      ? [
          [`Usage: ${path.join(" ")} COMMAND`],
          columns("Commands", (await command.commands()).map(groupRow)),
          columns("Options", words.length === 0 ? [helpRow, versionRow] : [helpRow]),
          [`Run "${[root, "help", ...words].join(" ")} COMMAND" for the help of a command.`],
        ]
      : leafSections(command, path);
  return [[command.summary], ...sections]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function leafSections(command: LeafCommand, path: readonly string[]): string[][] {
  const { details, examples = [] } = command;
  const usages = (command.arguments ?? []).map(([usage]) => usage);
  const options = optionsOf(command).map(({ name, short, value, isRepeated, summary }) => ({
    name: `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
    summary: summary + (isRepeated ? " (may be repeated)" : ""),
  }));
  return [
    details === undefined ? [] : [details],
    namesOf(command).map((name, index) => {
      const words = [...path.slice(0, -1), name, ...usages, "[options]"];
      return `${index === 0 ? "Usage:" : "      "} ${words.join(" ")}`;
    }),
    columns("Arguments", argumentsOf(command)),
    columns("Options", [...options, helpRow]),
    examples.length === 0 ? [] : ["Examples:", ...examples.map((example) => `  ${example}`)],
  ];
}

function groupRow(command: Command): HelpRow {
  return { name: namesOf(command).join(", "), summary: command.summary };
}

type HelpRow = Pick<Command, "name" | "summary">;

const helpRow: HelpRow = { name: "-h, --help", summary: "Prints this help" };
const versionRow: HelpRow = { name: "-v, --version", summary: "Prints the version of Ledge" };

function columns(title: string, rows: readonly HelpRow[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(({ name }) => name.length));
  return [`${title}:`, ...rows.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)];
}

/** Emphasises the headings of a help text: lines that end in a colon, and the word "Usage:". */
export function emphasiseHeadings(help: string, emphasise: (text: string) => string): string {
  return help.replace(/^(?:Usage:|\w+:$)/gm, emphasise);
}

const [begin, end] = ["<!-- commands: scripts/write-cli-docs.ts -->", "<!-- /commands -->"];

/** Returns docs/cli.md with its generated part, the help of every command, up to date. */
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
