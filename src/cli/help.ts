/** The text of `--help`, from the description of a command. */
import type { Command, LeafCommand } from "./command.ts";

/** @param path the words that lead to the command: `["ledge", "store", "put"]` */
export async function renderHelp(command: Command, path: readonly string[]): Promise<string> {
  const sections =
    "commands" in command
      ? [
          [`Usage: ${path.join(" ")} COMMAND`],
          columns("Commands", await command.commands()),
          [`Run "${path.join(" ")} COMMAND --help" for the help of a command.`],
        ]
      : leafSections(command, path);
  return [[command.summary], ...sections]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function leafSections(command: LeafCommand, path: readonly string[]): string[][] {
  const { details, examples = [] } = command;
  return [
    details === undefined ? [] : [details],
    [`Usage: ${usage(command, path)}`],
    columns("Arguments", command.arguments ?? []),
    columns("Options", optionRows(command)),
    examples.length === 0 ? [] : ["Examples:", ...examples.map((example) => `  ${example}`)],
  ];
}

function usage(command: LeafCommand, path: readonly string[]): string {
  const positional = (command.arguments ?? []).map(({ name, optional, repeated }) => {
    const word = repeated ? `${name}...` : name;
    return optional ? `[${word}]` : word;
  });
  return [...path, ...positional, "[options]"].join(" ");
}

function optionRows({ options = {} }: LeafCommand): HelpRow[] {
  const rows = Object.entries(options).map(([name, option]) => {
    const long = `--${name}` + (option.value === undefined ? "" : ` ${option.value}`);
    const remarks = [
      ...(option.repeated ? ["may be repeated"] : []),
      ...(option.default === undefined ? [] : [`default: ${option.default}`]),
    ];
    return {
      name: option.short === undefined ? long : `-${option.short}, ${long}`,
      summary: option.summary + (remarks.length === 0 ? "" : ` (${remarks.join("; ")})`),
    };
  });
  return [...rows, { name: "-h, --help", summary: "Prints this help" }];
}

type HelpRow = Pick<Command, "name" | "summary">;

function columns(title: string, rows: readonly HelpRow[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(({ name }) => name.length));
  return [`${title}:`, ...rows.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)];
}
