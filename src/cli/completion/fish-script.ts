/** The completion script for fish. */
import type { CompletedCommand, CompletedOption } from "./completed-command.ts";

export function fishScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.map(({ path }) => quote(path));
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
${commands.flatMap(commandLines).join("\n")}`;
}

function commandLines({ path, commands, options, argument }: CompletedCommand): string[] {
  const start = `complete -c ledge -n ${quote(`__ledge_at ${quote(path)}`)}`;
  return [
    ...commands.map(({ name, summary }) => `${start} -a ${name} -d ${quote(summary)}`),
    ...options.map((option) => `${start} ${optionWords(option)}`),
    ...(argument.kind === "file" ? [`${start} -F`] : []),
    ...(argument.kind === "words" ? [`${start} -a ${quote(argument.words.join(" "))}`] : []),
  ];
}

function optionWords({ long, short, summary, value }: CompletedOption): string {
  return [
    `-l ${long.slice(2)}`,
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    `-d ${quote(summary)}`,
    ...(value === null ? [] : [value.kind === "file" ? "-rF" : "-x"]),
    ...(value?.kind === "words" ? [`-a ${quote(value.words.join(" "))}`] : []),
  ].join(" ");
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
