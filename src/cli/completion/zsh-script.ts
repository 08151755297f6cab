/** The completion script for zsh. */
import type { CompletedCommand, CompletedOption, CompletedValue } from "./completed-command.ts";

export function zshScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => quote(path));
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
${commands.flatMap(valueCases).join("\n")}
  esac
  case "$ledge_command" in
${commands.map(commandCase).join("\n")}
  esac
}

if [[ $funcstack[1] == _ledge ]]; then _ledge "$@"; else compdef _ledge ledge; fi`;
}

function valueCases({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ long, short, value }) => {
    if (value === null) return [];
    const names = [long, ...(short === undefined ? [] : [short])].map((name) =>
      quote(`${path} ${name}`),
    );
    return `    (${names.join("|")}) ${action(value)}; return ;;`;
  });
}

function commandCase({ path, commands, options, argument }: CompletedCommand): string {
  const names = commands.map(({ name, summary }) => described(name, summary));
  if (path === "ledge") names.push(described("help", "Prints the help of a command"));
  const flags = options.map(({ long, summary }: CompletedOption) => described(long, summary));
  return `    (${quote(path)})
      if [[ $PREFIX == -* && ! $is_help ]]; then
        names=(${flags.join(" ")})
        _describe -o option names
      ${
        names.length > 0
          ? `else
        names=(${names.join(" ")})
        _describe command names`
          : `elif [[ ! $is_help ]]; then
        ${action(argument)}`
      }
      fi ;;`;
}

function action(value: CompletedValue): string {
  switch (value.kind) {
    case "words":
      return `compadd -- ${value.words.map(quote).join(" ")}`;
    case "file":
      return "_files";
    case "unknown":
      return "_message value";
  }
}

/** An entry of `_describe`: a colon ends the word. */
function described(word: string, summary: string): string {
  return quote(`${word}:${summary}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
