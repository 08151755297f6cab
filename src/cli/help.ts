/** The text of `--help`, from the description of a command. */
import type { Command, LeafCommand } from "./command.ts";

/** @param path the words that lead to the command: `["ledge", "store", "put"]` */
export function renderHelp(command: Command, path: readonly string[]): string {
  const sections =
    "commands" in command
      ? [
          [`Usage: ${path.join(" ")} COMMAND`],
          columns(
            "Commands",
            command.commands.map(({ name, summary }) => [name, summary]),
          ),
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
    columns(
      "Arguments",
      (command.arguments ?? []).map(({ name, summary }) => [name, summary]),
    ),
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

function optionRows({ options = {} }: LeafCommand): [string, string][] {
  const rows = Object.entries(options).map(([name, option]): [string, string] => {
    const long = `--${name}` + (option.value === undefined ? "" : ` ${option.value}`);
    const usageText = option.short === undefined ? long : `-${option.short}, ${long}`;
    const remarks = [
      ...(option.repeated ? ["may be repeated"] : []),
      ...(option.default === undefined ? [] : [`default: ${option.default}`]),
    ];
    return [usageText, option.summary + (remarks.length === 0 ? "" : ` (${remarks.join("; ")})`)];
  });
  return [...rows, ["-h, --help", "Prints this help"]];
}

function columns(title: string, rows: readonly (readonly [string, string])[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([left]) => left.length));
  return [`${title}:`, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)];
}
