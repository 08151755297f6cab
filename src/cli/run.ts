/**
 * Finds the command that the words name, runs it, and turns its errors into an exit code. A command
 * leaves nothing behind when it ends, also when a signal ends the command: a runtime that a command
 * starts does not outlive the command, and a file that is not complete is removed.
 */
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { constants } from "node:os";
import { nearest } from "../base/nearest.ts";
import { NotFoundError, UserError } from "../base/user-error.ts";
import {
  exitCode,
  namesOf,
  parseInvocation,
  UsageError,
  type Command,
  type CommandGroup,
} from "./command.ts";
import { emphasiseHeadings, renderHelp } from "./help.ts";
import { bold, OutputClosedError, plainLines, red } from "./output.ts";

interface Output {
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
      command = await subcommand(command, path, word);
      path.push(command.name);
      rest.shift();
    }
    const end = rest.indexOf("--");
    if (rest.slice(0, end === -1 ? Infinity : end).some(isHelp)) {
      await printHelp();
      return exitCode.done;
    }
    const invocation = parseInvocation(command, rest);
    return (await command.run(invocation, ...invocation.arguments)) ?? exitCode.done;
  } catch (error) {
    if (error instanceof OutputClosedError) return exitCode.done;
    const message = error instanceof UserError ? error.message : systemErrorText(error);
    // The stack of a mistake in Ledge is for a report.
    if (message === null) throw error;
    output.error(red(plainLines(message, process.stderr)));
    if (error instanceof NotFoundError) return exitCode.notFound;
    if (!(error instanceof UsageError)) return exitCode.failed;
    output.error(`Run "${path.join(" ")} --help" for help.`);
    return exitCode.usage;
  }
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}

async function subcommand(
  group: CommandGroup,
  path: readonly string[],
  word: string,
): Promise<Command> {
  const commands = await group.commands();
  const found = commandNamed(commands, word);
  if (found !== undefined) return found;
  if (word.startsWith("-")) throw new UsageError(`There is no option ${word} here.`);
  // A group may have the command: `ledge ls` for `ledge store ls`.
  const guesses: string[] = [];
  for (const each of commands) {
    const below = "commands" in each ? await each.commands() : [];
    if (commandNamed(below, word)) guesses.push([...path, each.name, word].join(" "));
  }
  if (guesses.length === 0) guesses.push(nearest(word, commands.flatMap(namesOf)) ?? "");
  const guess = guesses.map((words) => `"${words}"`).join(" or ");
  throw new UsageError(
    `There is no command "${word}".` + (guess === '""' ? "" : ` Did you mean ${guess}?`),
  );
}

function commandNamed(commands: readonly Command[], word: string): Command | undefined {
  return commands.find((command) => namesOf(command).includes(word));
}

const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** The exit code of a process that a signal has ended, as shells report it. */
export function signalCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** Runs `work`, then `cleanUp`. A signal runs `cleanUp` and ends the process; a second does not wait. */
export async function withCleanup<Result>(
  work: () => Promise<Result>,
  cleanUp: () => Promise<void>,
): Promise<Result> {
  let isStopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(signalCode(signal));
    isStopping = true;
    void cleanUp().finally(() => process.exit(signalCode(signal)));
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    return await work();
  } finally {
    for (const signal of signals) process.off(signal, stop);
    await cleanUp();
  }
}

const temporaryPaths = new Set<string>();

/** Runs `work`, then removes the file or the folder. The end of the process removes it, too. */
export async function withTemporaryPath<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (temporaryPaths.size === 0) process.on("exit", removeTemporaryPaths);
  temporaryPaths.add(path);
  try {
    return await work();
  } finally {
    // Processes of a browser write for a moment longer than their parent.
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
    temporaryPaths.delete(path);
    if (temporaryPaths.size === 0) process.off("exit", removeTemporaryPaths);
  }
}

function removeTemporaryPaths(): void {
  for (const path of temporaryPaths) rmSync(path, { recursive: true, force: true });
}

/** Node's message: `EACCES: permission denied, open '/etc/shadow'`. */
const messagePattern = /^[A-Z0-9]+: (.+?), \w+(?: |$)/;

/** `null` for an error that does not come from a call of the operating system. */
export function systemErrorText(error: unknown): string | null {
  const { code, syscall, path, message } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || code === undefined || syscall === undefined) return null;
  const reason = messagePattern.exec(message)?.[1] ?? message;
  const place = path === undefined ? syscall : path;
  return `Cannot use ${place}: ${reason} (${code}).`;
}
