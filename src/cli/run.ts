/** Finds the command that the words name, runs it, and turns its errors into an exit code. */
import { nearest } from "../base/nearest.ts";
import { systemErrorText } from "../base/system-error.ts";
import { NotFoundError, UserError } from "../base/user-error.ts";
import { exitCode, parseInvocation, UsageError, type Command } from "./command.ts";
import { emphasiseHeadings, renderHelp } from "./help.ts";
import { OutputClosedError } from "./output.ts";

export interface Output {
  out(text: string): void;
  error(text: string): void;
  /** For headings on standard output. Default: as they are. */
  readonly bold?: (text: string) => string;
  /** For errors on standard error. Default: as they are. */
  readonly red?: (text: string) => string;
}

export async function runCommand(
  root: Command,
  words: readonly string[],
  output: Output,
): Promise<number> {
  let command = root;
  const path = [root.name];
  const { bold = plain, red = plain } = output;
  const printHelp = async (): Promise<void> =>
    output.out(emphasiseHeadings(await renderHelp(command, path), bold));
  // `ledge help store put` is `ledge store put --help`.
  const rest = words[0] === "help" ? [...words.slice(1), "--help"] : [...words];
  try {
    while ("commands" in command) {
      const [word] = rest;
      if (word === undefined || isHelp(word)) {
        await printHelp();
        return word === undefined ? exitCode.usage : exitCode.done;
      }
      command = subcommand(await command.commands(), word);
      path.push(command.name);
      rest.shift();
    }
    const end = rest.indexOf("--");
    if (rest.slice(0, end === -1 ? Infinity : end).some(isHelp)) {
      await printHelp();
      return exitCode.done;
    }
    return (await command.run(parseInvocation(command, rest))) ?? exitCode.done;
  } catch (error) {
    if (error instanceof OutputClosedError) return exitCode.done;
    const message = error instanceof UserError ? error.message : systemErrorText(error);
    // The stack of a mistake in Ledge is for a report.
    if (message === null) throw error;
    output.error(red(message));
    if (error instanceof NotFoundError) return exitCode.notFound;
    if (!(error instanceof UsageError)) return exitCode.failed;
    output.error(`Run "${path.join(" ")} --help" for help.`);
    return exitCode.usage;
  }
}

function plain(text: string): string {
  return text;
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}

function subcommand(commands: readonly Command[], word: string): Command {
  const found = commands.find(({ name }) => name === word);
  if (found !== undefined) return found;
  if (word.startsWith("-")) throw new UsageError(`There is no option ${word} here.`);
  const guess = nearest(
    word,
    commands.map(({ name }) => name),
  );
  throw new UsageError(
    `There is no command "${word}".` + (guess === null ? "" : ` Did you mean "${guess}"?`),
  );
}
