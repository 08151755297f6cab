/**
 * The description of a command, and the parser of its arguments.
 *
 * A command is data: its name, its arguments and options, and the function that runs. The help, the
 * reference in docs/cli.md, the completion of shells and the parser read the same description, so
 * they cannot disagree. An argument and an option are written as the help shows them. The parser is
 * strict: an unknown option is an error with a suggestion.
 */
import { parseArgs } from "node:util";
import { toMilliseconds } from "../base/format.ts";
import { nearest } from "../base/nearest.ts";
import { UserError } from "../base/user-error.ts";

export interface LeafCommand {
  readonly name: string;
  /** Other names, as people know them from other programs. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Paragraphs after the summary. */
  readonly details?: string;
  /** `KEY`, `[FILE]` for an optional argument, `WORD...` for one or more words; and a summary. */
  readonly arguments?: readonly (readonly [usage: string, summary: string])[];
  readonly options?: OptionTable;
  /**
   * Options of wrangler that the command does not have, and why; or the name of the option that is the
   * same: `--compatibility-flags` for `--compatibility-flag`.
   */
  readonly wranglerOptions?: OptionTable;
  /** The values that options and arguments can have, by name: `method`, `SHELL`. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  readonly examples?: readonly string[];
  /**
   * @param words the arguments
   * @returns the exit code; nothing stands for 0
   */
  run(invocation: Invocation, ...words: string[]): Promise<number | void>;
}

/**
 * Summaries by `--json`, `-p, --port PORT`, or `--tag NAME:VALUE...` for an option that may be
 * repeated. An option without a placeholder is a flag. `--minify [true|false]` is also written
 * `--minify` and `--no-minify`.
 */
export type OptionTable = Readonly<Record<string, string>>;

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  commands(): Promise<readonly Command[]>;
}

export type Command = LeafCommand | CommandGroup;

/** The name of a command, then its other names. */
export function namesOf(command: Command): string[] {
  return [command.name, ...(("aliases" in command && command.aliases) || [])];
}

export interface Option {
  readonly name: string;
  /** One letter: `p` allows `-p` for `--port`. */
  readonly short: string | undefined;
  /** The placeholder of the value; a flag has none. */
  readonly value: string | undefined;
  readonly isRepeated: boolean;
  readonly summary: string;
  readonly choices: readonly string[] | undefined;
}

const optionPattern = /^(?:-(\w), )?--([\w-]+)(?: (.+?))?(\.\.\.)?$/;

export function optionsOf({ options = {}, choices = {} }: LeafCommand): Option[] {
  return Object.entries(options).map(([usage, summary]) => {
    const [, short, name = "", value, dots] = optionPattern.exec(usage) ?? [];
    const isRepeated = dots !== undefined;
    const own = value === optionalBoolean ? ["true", "false"] : choices[name];
    return { name, short, value, isRepeated, summary, choices: own };
  });
}

const optionalBoolean = "[true|false]";

export function argumentsOf({ arguments: given = [], choices = {} }: LeafCommand) {
  return given.map(([usage, summary]) => {
    const name = usage.replace(/^\[(.*)\]$/, "$1").replace("...", "");
    const isOptional = usage.startsWith("[");
    return { name, isOptional, isRepeated: usage.includes("..."), summary, choices: choices[name] };
  });
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

  /** @typeParam Text the choices, if the command names choices for the option */
  text<Text extends string>(name: string): Text | undefined {
    return this.options[name] as Text | undefined;
  }

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

  /** Whole seconds, at least one: `90`, `90s`, `1h30m`. */
  seconds(name: string, max: "1d" | "7d"): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    let seconds = NaN;
    try {
      seconds = toMilliseconds(/^\d+$/.test(text) ? `${text}s` : text) / 1000;
    } catch {
      // The sentence below says more.
    }
    const isInRange = seconds >= 1 && seconds <= toMilliseconds(max) / 1000;
    if (Number.isInteger(seconds) && isInRange) return seconds;
    throw new UsageError(`--${name} must be a time from 1s to ${max}, such as 15m, not "${text}".`);
  }

  /** The value of an option with the choices `true` and `false`. */
  boolean(name: string): boolean | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : text === "true";
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

/** The command line is wrong, and the command has changed nothing. */
export class UsageError extends UserError {}

export const exitCode = { done: 0, failed: 1, usage: 2, notFound: 3 } as const;

export function parseInvocation(command: LeafCommand, words: readonly string[]): Invocation {
  const known = optionsOf(command);
  const { tokens, values, positionals } = parseArgs({
    args: words.map((word, index) => writtenOut(word, words[index + 1], known, command)),
    options: Object.fromEntries(
      known.map(({ name, value, short, isRepeated }) => [
        name,
        {
          type: value === undefined ? "boolean" : "string",
          multiple: isRepeated,
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
    const { rawName, value } = token;
    const option = known.find(({ name }) => name === token.name);
    if (option === undefined) throw unknownOption(known, rawName, command);
    if (option.value === undefined && value !== undefined) {
      throw new UsageError(`${rawName} takes no value: leave out "${value}".`);
    }
    if (option.value !== undefined && value === undefined) {
      throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}.`);
    }
    checkChoice(`--${option.name}`, option.choices, value);
  }
  checkArguments(command, positionals);
  return new Invocation(positionals, values as Invocation["options"]);
}

/** Gives an option the name and the value that the user has left out. */
function writtenOut(
  word: string,
  next: string | undefined,
  known: readonly Option[],
  { wranglerOptions = {} }: LeafCommand,
): string {
  const [, name, value = ""] = /^--([\w-]+)(=.*)?$/s.exec(word) ?? [];
  if (name === undefined) return word;
  const isBoolean = (wanted: string): boolean =>
    known.some((option) => option.name === wanted && option.value === optionalBoolean);
  if (isBoolean(name) && value === "" && next !== "true" && next !== "false") return `${word}=true`;
  if (name.startsWith("no-") && isBoolean(name.slice(3))) return `--${name.slice(3)}=false`;
  const same = wranglerOptions[`--${name}`];
  return same?.startsWith("--") === true ? same + value : word;
}

function unknownOption(
  options: readonly Option[],
  rawName: string,
  { wranglerOptions = {} }: LeafCommand,
): UsageError {
  const [, reason] =
    Object.entries(wranglerOptions).find(([usage]) => usage.split(", ").includes(rawName)) ?? [];
  if (reason !== undefined) {
    return new UsageError(`wrangler has ${rawName}, Ledge does not, because ${reason}`);
  }
  const names = options.map(({ name }) => name);
  const guess = nearest(rawName.replace(/^-+/, ""), names);
  return new UsageError(
    `There is no option ${rawName}.` + (guess === null ? "" : ` Did you mean --${guess}?`),
  );
}

function checkArguments(command: LeafCommand, words: readonly string[]): void {
  const expected = argumentsOf(command);
  // An optional argument may come before a required one.
  const missing = expected.filter(({ isOptional }) => !isOptional)[words.length];
  if (missing !== undefined) throw new UsageError(`${missing.name} is missing: ${missing.summary}`);
  for (const [index, { name, choices }] of expected.entries()) {
    checkChoice(name, choices, words[index]);
  }
  const extra = words[expected.length];
  if (extra !== undefined && !expected.some(({ isRepeated }) => isRepeated)) {
    throw new UsageError(`The argument "${extra}" is one too many.`);
  }
}

function checkChoice(name: string, choices?: readonly string[], word?: string): void {
  if (choices === undefined || word === undefined || choices.includes(word)) return;
  const known = `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
  throw new UsageError(`${name} must be ${known}, not "${word}".`);
}

const environmentOption = { "-e, --env NAME": "The environment, [env.NAME] of the configuration" };
/** Which configuration file, and which environment of it. */
export const configOptions = {
  "-c, --config FILE": "The configuration file (default: the nearest)",
  ...environmentOption,
};
/** The same for a command that knows several scripts. */
export const configFilesOptions = {
  "-c, --config FILE...":
    "The configuration file (default: the nearest); then those of scripts that its bindings name",
  ...environmentOption,
};
export const adoptOption = {
  "--adopt": "Serves r2_buckets by the store, too: a wrangler project needs no edit",
};
export const persistOption = {
  "--persist-to DIR":
    "The folder that holds the state (default: .wrangler/state beside the configuration file)",
};
export const jsonOption = { "--json": "Prints JSON" };

/** The options of every command that works on the state of a project. */
export const projectOptions = { ...configOptions, ...persistOption, ...jsonOption };

/** The values of `configOptions` and `adoptOption`, as `readConfig()` takes them. */
export function configSelection(invocation: Invocation) {
  return {
    configPath: [invocation.options["config"] ?? []].flat()[0] as string | undefined,
    environment: invocation.text("env"),
    adopt: invocation.flag("adopt"),
  };
}
