/**
 * `ledge completion`: the script with which a shell completes the words of a command line. The
 * descriptions of the commands say everything that a script needs.
 */
import { UsageError, type Command, type LeafCommand } from "./command.ts";
import { commandsOf } from "./help.ts";

interface CompletedOption {
  /** With dashes: `--port`. */
  readonly long: string;
  /** `["--port", "-p"]` */
  readonly names: readonly string[];
  readonly summary: string;
  /** What the value can be; `null` for a flag. */
  readonly value: CompletedValue | null;
}

/** The words, files of the user, or a value that only the user knows, such as a port. */
type CompletedValue = readonly string[] | "file" | "unknown";

interface CompletedCommand {
  /** The words that lead to the command: `ledge store put`. */
  readonly path: string;
  /** The commands of a group. */
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly CompletedOption[];
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
    arguments: [{ name: "SHELL", summary: "bash, zsh or fish", choices: Object.keys(scripts) }],
    examples: ['eval "$(ledge completion bash)"', "ledge completion fish | source"],

    async run(invocation) {
      const [shell] = invocation.arguments as [string];
      const script = Object.entries(scripts).find(([name]) => name === shell)?.[1];
      if (script === undefined) {
        throw new UsageError(`SHELL must be bash, zsh or fish, not "${shell}".`);
      }
      process.stdout.write(`${script(await completedCommands(root()))}\n`);
    },
  };
}

const help = completedOption("help", { short: "h", summary: "Prints the help" });
const version = completedOption("version", { short: "v", summary: "Prints the version of Ledge" });

async function completedCommands(root: Command): Promise<CompletedCommand[]> {
  const commands = await commandsOf(root, [root.name]);
  return Promise.all(
    commands.map(async ({ command, path }): Promise<CompletedCommand> => {
      const name = path.join(" ");
      if ("commands" in command) {
        const options = path.length === 1 ? [help, version] : [help];
        return { path: name, commands: await command.commands(), options, argument: "unknown" };
      }
      const own = Object.entries(command.options ?? {}).map(([key, option]) =>
        completedOption(key, option),
      );
      // The shells do not count arguments: files are offered where one of the arguments is a file.
      const values = (command.arguments ?? []).map((each) => valueOf(each.name, each.choices));
      const argument = values.find((value) => value !== "unknown") ?? "unknown";
      return { path: name, commands: [], options: [...own, help], argument };
    }),
  );
}

function completedOption(
  name: string,
  { short, summary, value, choices }: NonNullable<LeafCommand["options"]>[string],
): CompletedOption {
  return {
    long: `--${name}`,
    names: [`--${name}`, ...(short === undefined ? [] : [`-${short}`])],
    summary,
    value: value === undefined ? null : valueOf(value, choices),
  };
}

/** @param name a placeholder: some stand for files and folders of the user */
function valueOf(name: string, choices: readonly string[] | undefined): CompletedValue {
  return choices ?? (["FILE", "DIR", "SCRIPT"].includes(name) ? "file" : "unknown");
}

/** A line for each option that has a value. */
function valueCases(
  { path, options }: CompletedCommand,
  line: (words: readonly string[], value: CompletedValue) => string,
): string[] {
  return options.flatMap(({ names, value }) =>
    value === null
      ? []
      : line(
          names.map((name) => `${path} ${name}`),
          value,
        ),
  );
}

function bashScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => `"${path}"`);
  const values = commands.flatMap((command) =>
    valueCases(
      command,
      (words, value) =>
        `    ${words.map((each) => `"${each}"`).join(" | ")}) ${bashAction(value)};;`,
    ),
  );
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
${values.join("\n")}
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
  const flags = options.map(({ long }) => long);
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
  const values = commands.flatMap((command) =>
    valueCases(
      command,
      (words, value) => `    (${words.map(zshQuote).join("|")}) ${zshAction(value)}; return ;;`,
    ),
  );
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
${values.join("\n")}
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
  const flags = options.map(({ long, summary }) => described(long, summary));
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
  const words = argument === "file" ? ["-F"] : argument === "unknown" ? [] : [fishWords(argument)];
  return [
    ...commands.map(({ name, summary }) => `-a ${name} -d ${fishQuote(summary)}`),
    ...options.map(fishOption),
    ...words,
  ].map((line) => `${start} ${line}`);
}

function fishOption({ names, summary, value }: CompletedOption): string {
  return [
    ...names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)),
    `-d ${fishQuote(summary)}`,
    ...(value === null ? [] : [value === "file" ? "-rF" : "-x"]),
    ...(value === null || typeof value === "string" ? [] : [fishWords(value)]),
  ].join(" ");
}

function fishWords(words: readonly string[]): string {
  return `-a ${fishQuote(words.join(" "))}`;
}

function fishQuote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
