/** The commands as the scripts for shells need them. The descriptions of the commands say it all. */
import type { Argument, Command, Option } from "../command.ts";
import { commandsOf } from "../reference.ts";

export interface CompletedOption {
  /** With dashes: `--port` and, if there is one, `-p`. */
  readonly long: string;
  readonly short?: string;
  readonly summary: string;
  /** What the value can be; `null` for a flag. */
  readonly value: CompletedValue | null;
}

export type CompletedValue =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "file" }
  /** A value that only the user knows, such as a port. */
  | { readonly kind: "unknown" };

export interface CompletedCommand {
  /** The words that lead to the command: `ledge store put`. */
  readonly path: string;
  /** The commands of a group. */
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly CompletedOption[];
  /** What a word that is not an option can be. */
  readonly argument: CompletedValue;
}

/** The placeholders that stand for files and folders of the user. */
const fileNames = new Set(["FILE", "DIR", "SCRIPT"]);

export async function completedCommands(root: Command): Promise<CompletedCommand[]> {
  const commands = await commandsOf(root, [root.name]);
  return Promise.all(
    commands.map(async ({ command, path }) => ({
      path: path.join(" "),
      ...("commands" in command
        ? {
            commands: (await command.commands()).map(({ name, summary }) => ({ name, summary })),
            options: [helpOption, ...(path.length === 1 ? [versionOption] : [])],
            argument: unknownValue,
          }
        : {
            commands: [],
            options: [...Object.entries(command.options ?? {}).map(completedOption), helpOption],
            argument: argumentValue(command.arguments ?? []),
          }),
    })),
  );
}

const unknownValue: CompletedValue = { kind: "unknown" };

const helpOption: CompletedOption = {
  long: "--help",
  short: "-h",
  summary: "Prints the help",
  value: null,
};
const versionOption: CompletedOption = {
  long: "--version",
  short: "-v",
  summary: "Prints the version of Ledge",
  value: null,
};

function completedOption([name, option]: [string, Option]): CompletedOption {
  const { short, summary, value, choices } = option;
  return {
    long: `--${name}`,
    ...(short !== undefined && { short: `-${short}` }),
    summary,
    value: value === undefined ? null : completedValue(value, choices),
  };
}

/** The shells do not count arguments: files are offered where one of the arguments is a file. */
function argumentValue(parameters: readonly Argument[]): CompletedValue {
  const values = parameters.map(({ name, choices }) => completedValue(name, choices));
  return values.find(({ kind }) => kind !== "unknown") ?? unknownValue;
}

function completedValue(name: string, choices: readonly string[] | undefined): CompletedValue {
  if (choices !== undefined) return { kind: "words", words: choices };
  return fileNames.has(name) ? { kind: "file" } : unknownValue;
}
