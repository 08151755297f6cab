/**
 * `ledge completion`: the script with which a shell completes the words of a command line. The
 * descriptions of the commands say everything that a script needs.
 */
import {
  argumentsOf,
  namesOf,
  optionsOf,
  type Command,
  type LeafCommand,
  type Option,
} from "./command.ts";
import { commandsOf } from "./help.ts";

/** The words, files of the user, or a value that only the user knows, such as a port. */
type CompletedValue = readonly string[] | "file" | "unknown";

interface CompletedCommand {
  /** The words that lead to the command: `ledge store put`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly Option[];
  /** What a word that is not an option can be. */
  readonly argument: CompletedValue;
}

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** @param root all commands, `completion` included */
export function completionOf(root: () => Command): LeafCommand {
  return {
    name: "completion",
    summary: "Prints a script with which a shell completes commands and options",
    details: "The first lines of the script say how to install it.",
    arguments: [["SHELL", "bash, zsh or fish"]],
    choices: { SHELL: Object.keys(scripts) },
    examples: ['eval "$(ledge completion bash)"', "ledge completion fish | source"],

    async run(_, shell) {
      const script = scripts[shell as keyof typeof scripts];
      process.stdout.write(`${script(await completedCommands(root()))}\n`);
    },
  };
}

const flag = { value: undefined, isRepeated: false, choices: undefined };
const help: Option = { name: "help", short: "h", summary: "Prints the help", ...flag };
const version: Option = {
  name: "version",
  short: "v",
  summary: "Prints the version of Ledge",
  ...flag,
};

async function completedCommands(root: Command): Promise<CompletedCommand[]> {
  const commands = await commandsOf(withAliases(root), [root.name]);
  return Promise.all(
    commands.map(async ({ command, path: words }): Promise<CompletedCommand> => {
      const path = words.join(" ");
      if ("commands" in command) {
        const options = words.length === 1 ? [help, version] : [help];
        return { path, commands: await command.commands(), options, argument: "unknown" };
      }
      // The shells do not count arguments: files are offered where one of the arguments is a file.
      const values = argumentsOf(command).map(({ name, choices }) => valueOf(name, choices));
      const argument = values.find((value) => value !== "unknown") ?? "unknown";
      return { path, commands: [], options: [...optionsOf(command), help], argument };
    }),
  );
}

/** The command, in which every alias is a command of its own. */
function withAliases(command: Command): Command {
  if (!("commands" in command)) return command;
  const commands = async (): Promise<Command[]> =>
    (await command.commands()).flatMap((each) =>
      namesOf(each).map((name) => ({ ...withAliases(each), name })),
    );
  return { ...command, commands };
}

/** @param name a placeholder: some stand for files and folders of the user */
function valueOf(name: string, choices: readonly string[] | undefined): CompletedValue {
  const isFile = ["FILE", "DIR", "SCRIPT", "SOURCE", "TARGET"].includes(name);
  return choices ?? (isFile ? "file" : "unknown");
}

/** A line for each option that has a value. The words are the command with the option's names. */
function valueLines(
  commands: readonly CompletedCommand[],
  line: (words: readonly string[], value: CompletedValue) => string,
): string {
  const lines = commands.flatMap(({ path, options }) =>
    options.flatMap(({ name, short, value, choices }) => {
      if (value === undefined) return [];
      const names = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
      const words = names.map((each) => `${path} ${each}`);
      return line(words, valueOf(value, choices));
    }),
  );
  return lines.join("\n");
}

function bashScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => `"${path}"`);
  const values = valueLines(commands, (words, value) => {
    return `    ${words.map((each) => `"${each}"`).join(" | ")}) ${bashAction(value)};;`;
  });
  return `# Completion of ledge for bash. For this shell: eval "$(ledge completion bash)"
# For every new shell, with the package bash-completion:
#   ledge completion bash > ~/.local/share/bash-completion/completions/ledge

_ledge() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local command=ledge words="" files="" is_help="" index=1
  COMPREPLY=()
  if [[ \${COMP_WORDS[1]} == help && $COMP_CWORD -gt 1 ]]; then is_help=yes index=2; fi
  for ((; index < COMP_CWORD; index++)); do
    case "$command \${COMP_WORDS[index]}" in
      ${paths.join(" | ")})
        command="$command \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$command $previous" in
${values}
    *)
      case "$command" in
${commands.map(bashCommand).join("\n")}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ $files && $current != -* ]]; then compopt -o default; COMPREPLY=(); fi
}
complete -F _ledge ledge`;
}

function bashCommand({ path, commands, options, argument }: CompletedCommand): string {
  const names = commands.map(({ name }) => name);
  if (path === "ledge") names.push("help");
  const flags = options.map((option) => `--${option.name}`);
  if (names.length > 0) {
    return (
      `        "${path}")\n` +
      `          words="${names.join(" ")}"\n` +
      `          if [[ $current == -* && ! $is_help ]]; then words="${flags.join(" ")}"; fi ;;`
    );
  }
  return (
    `        "${path}")\n` +
    `          if [[ $is_help ]]; then words=""\n` +
    `          elif [[ $current == -* ]]; then words="${flags.join(" ")}"\n` +
    `          else ${bashAction(argument)}fi ;;`
  );
}

function bashAction(value: CompletedValue): string {
  if (value === "file") return "files=yes; ";
  return `words="${value === "unknown" ? "" : value.join(" ")}"; `;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => zshQuote(path));
  const values = valueLines(commands, (words, value) => {
    return `    (${words.map(zshQuote).join("|")}) ${zshAction(value)}; return ;;`;
  });
  return `#compdef ledge
# Completion of ledge for zsh. For this shell: source <(ledge completion zsh)
# For every new shell, with a folder of $fpath:
#   ledge completion zsh > ~/.zsh/completions/_ledge
# and in ~/.zshrc: fpath=(~/.zsh/completions $fpath); autoload -Uz compinit; compinit

_ledge() {
  local ledge_command=ledge is_help="" index=2
  local -a names
  if [[ $words[2] == help && $CURRENT -gt 2 ]]; then is_help=yes index=3; fi
  for (( ; index < CURRENT; index++ )); do
    case "$ledge_command $words[index]" in
      (${paths.join("|")}) ledge_command="$ledge_command $words[index]" ;;
    esac
  done
  case "$ledge_command $words[CURRENT-1]" in
${values}
  esac
  case "$ledge_command" in
${commands.map(zshCommand).join("\n")}
  esac
}

if [[ $funcstack[1] == _ledge ]]; then _ledge "$@"; else compdef _ledge ledge; fi`;
}

function zshCommand({ path, commands, options, argument }: CompletedCommand): string {
  // In an entry of `_describe`, a colon ends the word.
  const described = (word: string, summary: string): string => zshQuote(`${word}:${summary}`);
  const names = commands.map(({ name, summary }) => described(name, summary));
  if (path === "ledge") names.push(described("help", "Prints the help of a command"));
  const flags = options.map((option) => described(`--${option.name}`, option.summary));
  return `    (${zshQuote(path)})
      if [[ $PREFIX == -* && ! $is_help ]]; then
        names=(${flags.join(" ")})
        _describe -o option names
      ${
        names.length > 0
          ? `else
        names=(${names.join(" ")})
        _describe command names`
          : `elif [[ ! $is_help ]]; then
        ${zshAction(argument)}`
      }
      fi ;;`;
}

function zshAction(value: CompletedValue): string {
  if (value === "file") return "_files";
  return value === "unknown" ? "_message value" : `compadd -- ${value.map(zshQuote).join(" ")}`;
}

function zshQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.map(({ path }) => fishQuote(path));
  return `# Completion of ledge for fish. For this shell: ledge completion fish | source
# For every new shell: ledge completion fish > ~/.config/fish/completions/ledge.fish

# Whether the words before the cursor name this command.
function __ledge_at
    set -l words (commandline -opc)
    set -l command ledge
    for word in $words[2..]
        if test "$word" = help -a "$command" = ledge
            continue
        else if contains -- "$command $word" ${paths.join(" ")}
            set command "$command $word"
        end
    end
    test "$command" = "$argv[1]"
end

complete -c ledge -f
complete -c ledge -n '__ledge_at ledge' -a help -d 'Prints the help of a command'
${commands.flatMap(fishLines).join("\n")}`;
}

function fishLines({ path, commands, options, argument }: CompletedCommand): string[] {
  const start = `complete -c ledge -n ${fishQuote(`__ledge_at ${fishQuote(path)}`)}`;
  return [
    ...commands.map(({ name, summary }) => `-a ${name} -d ${fishQuote(summary)}`),
    ...options.map(fishOption),
    ...(argument === "file" ? ["-F"] : fishWords(argument)),
  ].map((line) => `${start} ${line}`);
}

function fishOption({ name, short, summary, value, choices }: Option): string {
  const completed = value === undefined ? null : valueOf(value, choices);
  return [
    `-l ${name}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    `-d ${fishQuote(summary)}`,
    ...(completed === null ? [] : [completed === "file" ? "-rF" : "-x", ...fishWords(completed)]),
  ].join(" ");
}

function fishWords(value: CompletedValue): string[] {
  return typeof value === "string" ? [] : [`-a ${fishQuote(value.join(" "))}`];
}

function fishQuote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
