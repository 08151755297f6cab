/**
 * What a command of the command line is, and how its arguments are read.
 *
 * A command is data: its names, its options and what runs. Help, the documentation's tables and
 * the parser all come from that one description, so they cannot disagree. Parsing is strict: an
 * option that nobody knows is an error with a suggestion, never ignored.
 */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { nearest } from "../base/nearest.ts";
import { UserError } from "../base/user-error.ts";

export interface Option {
  readonly summary: string;
  /** One letter */
  readonly short?: string;
  /** What stands for the value in help, `PORT` in `--port PORT`; a flag without one. */
  readonly value?: string;
  /** May be given several times. */
  readonly repeated?: boolean;
  /** What holds without it, for help. */
  readonly otherwise?: string;
}

export interface Argument {
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** Takes all that are left; only the last may. */
  readonly repeated?: boolean;
}

/** A flag gives `true`, an option its value, one that may be repeated all of its values. */
export type OptionValues = Readonly<Record<string, string | true | readonly string[] | undefined>>;

export interface Invocation {
  readonly arguments: readonly string[];
  readonly options: OptionValues;
}

export interface LeafCommand {
  readonly name: string;
  readonly summary: string;
  /** Paragraphs below the summary. */
  readonly details?: string;
  readonly arguments?: readonly Argument[];
  readonly options?: Readonly<Record<string, Option>>;
  readonly examples?: readonly string[];
  /** Gives the exit code; 0 when it gives none. */
  run(invocation: Invocation): Promise<number | void>;
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
}

export type Command = LeafCommand | CommandGroup;

/** The command line was wrong: nothing has been done. */
export class UsageError extends UserError {}

export { NotFoundError } from "../base/user-error.ts";

export const exitCode = { done: 0, failed: 1, usage: 2, notFound: 3 } as const;

export function parseInvocation(command: LeafCommand, given: readonly string[]): Invocation {
  const known = command.options ?? {};
  const { tokens, values, positionals } = parseArgs({
    args: [...given],
    options: Object.fromEntries(
      Object.entries(known).map(([name, option]) => [name, parserOption(option)]),
    ),
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const option = known[token.name];
    if (option === undefined) throw unknownOption(command, token.rawName);
    if (option.value === undefined && token.value !== undefined) {
      throw new UsageError(`${token.rawName} takes no value: leave out "${token.value}".`);
    }
    if (option.value !== undefined && token.value === undefined) {
      throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${option.value}.`);
    }
  }
  checkArguments(command, positionals);
  return { arguments: positionals, options: values as OptionValues };
}

function parserOption({ value, short, repeated }: Option): ParseArgsOptionsConfig[string] {
  return {
    type: value === undefined ? "boolean" : "string",
    ...(short !== undefined && { short }),
    ...(repeated !== undefined && { multiple: repeated }),
  };
}

function unknownOption({ options = {} }: LeafCommand, rawName: string): UsageError {
  const guess = nearest(rawName.replace(/^-+/, ""), Object.keys(options));
  return new UsageError(
    `There is no option ${rawName}.` + (guess === null ? "" : ` Did you mean --${guess}?`),
  );
}

function checkArguments({ arguments: expected = [] }: LeafCommand, given: readonly string[]): void {
  const missing = expected.find((argument, index) => !argument.optional && given.length <= index);
  if (missing !== undefined) {
    throw new UsageError(`${missing.name} is missing: ${missing.summary}`);
  }
  const extra = given[expected.length];
  if (extra !== undefined && expected.at(-1)?.repeated !== true) {
    throw new UsageError(`"${extra}" is one argument too many.`);
  }
}
