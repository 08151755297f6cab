/** The completion script for bash. */
import type { CompletedCommand, CompletedValue } from "./completed-command.ts";

export function bashScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => `"${path}"`);
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
${commands.flatMap(valueCases).join("\n")}
    *)
      case "$command" in
${commands.map(commandCase).join("\n")}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ $files && $current != -* ]]; then compopt -o default; COMPREPLY=(); fi
}
complete -F _ledge ledge`;
}

/** The values of options that have a value. */
function valueCases({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ long, short, value }) => {
    if (value === null) return [];
    const names = [long, ...(short === undefined ? [] : [short])].map(
      (name) => `"${path} ${name}"`,
    );
    return `    ${names.join(" | ")}) ${assignment(value)};;`;
  });
}

function commandCase({ path, commands, options, argument }: CompletedCommand): string {
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
    `          else ${assignment(argument)}fi ;;`
  );
}

function assignment(value: CompletedValue): string {
  switch (value.kind) {
    case "words":
      return `words="${value.words.join(" ")}"; `;
    case "file":
      return "files=yes; ";
    case "unknown":
      return 'words=""; ';
  }
}
