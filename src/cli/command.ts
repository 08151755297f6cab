/**
 * The description of a command, and the parser of its arguments.
 *
 * A command is data: its name, its arguments and options, and the function that runs. The help, the
 * reference in docs/cli.md and the parser read the same description, so they cannot disagree. The
 * parser is strict: an unknown option is an error with a suggestion.
 */
import { parseArgs } from "node:util";
import { nearest } from "../base/nearest.ts";
import { UserError } from "../base/user-error.ts";

export interface Option {
  readonly summary: string;
  /** One letter: `p` allows `-p` for `--port`. */
  readonly short?: string;
  /** The placeholder of the value, `PORT` in `--port PORT`. An option without one is a flag. */
  readonly value?: string;
  readonly repeated?: boolean;
  /** The values that the option can have, for the completion of a shell. */
  readonly choices?: readonly string[];
  /** What holds without the option, for the help. */
  readonly default?: string;
}

export interface Argument {
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** The values that the argument can have, for the completion of a shell. */
  readonly choices?: readonly string[];
  /** Takes all remaining words. Only the last argument may be repeated. */
  readonly repeated?: boolean;
}

/** The words of one command line, checked against the description of the command. */
export class Invocation {
  readonly arguments: readonly string[];
  /** `true` for a flag, a string for an option with a value, a list for a repeated option. */
  readonly options: Readonly<Record<string, string | true | readonly string[] | undefined>>;

  constructor(words: Invocation["arguments"], options: Invocation["options"]) {
    this.arguments = words;
    this.options = options;
  }

  flag(name: string): boolean {
    return this.options[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.options[name];
    return typeof value === "string" ? value : undefined;
  }

  /** The values of a repeated option. */
  list(name: string): readonly string[] | undefined {
    return this.options[name] as readonly string[] | undefined;
  }

  integer(name: string, max?: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value <= (max ?? Number.MAX_SAFE_INTEGER)) return value;
    const range = max === undefined ? "" : ` from 0 to ${max}`;
    throw new UsageError(`--${name} must be a whole number${range}, not "${text}".`);
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.text(name);
    const choice = choices.find((each) => each === text);
    if (text === undefined || choice !== undefined) return choice;
    const known = `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
    throw new UsageError(`--${name} must be ${known}, not "${text}".`);
  }

  boolean(name: string): boolean | undefined {
    const choice = this.choice(name, ["true", "false"]);
    return choice === undefined ? undefined : choice === "true";
  }

  /** A repeated option whose values are a name and a value: `NAME=VALUE`. */
  pairs(name: string, separator: "=" | ":"): Record<string, string> | undefined {
    const pairs = this.list(name)?.map((pair) => {
      const end = pair.indexOf(separator);
      if (end > 0) return [pair.slice(0, end), pair.slice(end + 1)];
      throw new UsageError(`--${name} must be NAME${separator}VALUE, not "${pair}".`);
    });
    return pairs && Object.fromEntries(pairs);
  }
}

export interface LeafCommand {
  readonly name: string;
  readonly summary: string;
  /** Paragraphs after the summary. */
  readonly details?: string;
  readonly arguments?: readonly Argument[];
  readonly options?: Readonly<Record<string, Option>>;
  readonly examples?: readonly string[];
  /** Returns the exit code; nothing stands for 0. */
  run(invocation: Invocation): Promise<number | void>;
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  commands(): Promise<readonly Command[]>;
}

export type Command = LeafCommand | CommandGroup;

/** The command line is wrong, and the command has changed nothing. */
export class UsageError extends UserError {}

/** 129, 130 and 143 are 128 plus the number of the signal, as shells report it. */
export const exitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  hangUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export function parseInvocation(command: LeafCommand, words: readonly string[]): Invocation {
  const known = command.options ?? {};
  const { tokens, values, positionals } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(known).map(([name, { value, short, repeated = false }]) => [
        name,
        {
          type: value === undefined ? "boolean" : "string",
          multiple: repeated,
          ...(short !== undefined && { short }),
        },
      ]),
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
  return new Invocation(positionals, values as Invocation["options"]);
}

function unknownOption({ options = {} }: LeafCommand, rawName: string): UsageError {
  const guess = nearest(rawName.replace(/^-+/, ""), Object.keys(options));
  return new UsageError(
    `There is no option ${rawName}.` + (guess === null ? "" : ` Did you mean --${guess}?`),
  );
}

function checkArguments({ arguments: expected = [] }: LeafCommand, words: readonly string[]): void {
  const missing = expected.find((argument, index) => !argument.optional && words.length <= index);
  if (missing !== undefined) {
    throw new UsageError(`${missing.name} is missing: ${missing.summary}`);
  }
  const extra = words[expected.length];
  if (extra !== undefined && expected.at(-1)?.repeated !== true) {
    throw new UsageError(`The argument "${extra}" is one too many.`);
  }
}

/** Which configuration file, and which environment of it. */
export const configOptions = {
  config: { short: "c", value: "FILE", summary: "The configuration file", default: "the nearest" },
  env: { short: "e", value: "NAME", summary: "The environment, [env.NAME] of the configuration" },
} satisfies Record<string, Option>;

export const adoptOption = {
  adopt: { summary: "Serves r2_buckets by the store, too: a wrangler project needs no edit" },
} satisfies Record<string, Option>;

/** The options of every command that works on the state of a project. */
export const projectOptions = {
  ...configOptions,
  "persist-to": {
    summary: "The folder that holds the state",
    value: "DIR",
    default: ".wrangler/state beside the configuration file",
  },
  json: { summary: "Prints JSON" },
} satisfies Record<string, Option>;

/** The values of `configOptions` and `adoptOption`, as `readConfig()` takes them. */
export function configSelection(invocation: Invocation) {
  return {
    configPath: invocation.text("config"),
    environment: invocation.text("env"),
    adopt: invocation.flag("adopt"),
  };
}
