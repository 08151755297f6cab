/** Finds the command that the words name, runs it, and turns its errors into an exit code. */
import { nearest } from "../base/nearest.ts";
import { NotFoundError, UserError } from "../base/user-error.ts";
import { exitCode, parseInvocation, UsageError, type Command } from "./command.ts";
import { renderHelp } from "./help.ts";

export interface Output {
  out(text: string): void;
  error(text: string): void;
}

export async function runCommand(
  root: Command,
  words: readonly string[],
  output: Output,
): Promise<number> {
  let command = root;
  const path = [root.name];
  const rest = [...words];
  try {
    while ("commands" in command) {
      const [word] = rest;
      if (word === undefined || isHelp(word)) {
        output.out(await renderHelp(command, path));
        return word === undefined ? exitCode.usage : exitCode.done;
      }
      command = subcommand(await command.commands(), word);
      path.push(command.name);
      rest.shift();
    }
    const end = rest.indexOf("--");
    if (rest.slice(0, end === -1 ? Infinity : end).some(isHelp)) {
      output.out(await renderHelp(command, path));
      return exitCode.done;
    }
    return (await command.run(parseInvocation(command, rest))) ?? exitCode.done;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    output.error(error.message);
    if (error instanceof NotFoundError) return exitCode.notFound;
    if (!(error instanceof UsageError)) return exitCode.failed;
    output.error(`Run "${path.join(" ")} --help" for help.`);
    return exitCode.usage;
  }
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}

function subcommand(commands: readonly Command[], word: string): Command {
  const found = commands.find(({ name }) => name === word);
  if (found !== undefined) return found;
  const guess = nearest(
    word,
    commands.map(({ name }) => name),
  );
  throw new UsageError(
    `There is no command "${word}".` + (guess === null ? "" : ` Did you mean "${guess}"?`),
  );
}
