/** Options that several commands share, and the values of options. */
import { UsageError, type Invocation, type Option } from "./command.ts";

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
  return defined<{ configPath?: string; environment?: string; adopt?: boolean }>({
    configPath: textOption(invocation, "config"),
    environment: textOption(invocation, "env"),
    adopt: invocation.options["adopt"] === true ? true : undefined,
  });
}

export function textOption({ options }: Invocation, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** The values of a repeated option. */
export function listOption({ options }: Invocation, name: string): readonly string[] | undefined {
  return options[name] as readonly string[] | undefined;
}

/** `undefined` without the option, so that the configuration decides. */
export function flagOption({ options }: Invocation, name: string): true | undefined {
  return options[name] === true ? true : undefined;
}

export function integerOption(
  invocation: Invocation,
  name: string,
  max?: number,
): number | undefined {
  const text = textOption(invocation, name);
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value <= (max ?? Number.MAX_SAFE_INTEGER)) return value;
  const range = max === undefined ? "" : ` from 0 to ${max}`;
  throw new UsageError(`--${name} must be a whole number${range}, not "${text}".`);
}

export function choiceOption<Choice extends string>(
  invocation: Invocation,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const text = textOption(invocation, name);
  const choice = choices.find((each) => each === text);
  if (text === undefined || choice !== undefined) return choice;
  const known = `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
  throw new UsageError(`--${name} must be ${known}, not "${text}".`);
}

export function booleanOption(invocation: Invocation, name: string): boolean | undefined {
  const choice = choiceOption(invocation, name, ["true", "false"]);
  return choice === undefined ? undefined : choice === "true";
}

/** A repeated option whose values are a name and a value: `NAME=VALUE`. */
export function pairsOption(
  invocation: Invocation,
  name: string,
  separator: "=" | ":",
): Record<string, string> | undefined {
  const pairs = listOption(invocation, name);
  if (pairs === undefined) return undefined;
  return Object.fromEntries(
    pairs.map((pair) => {
      const end = pair.indexOf(separator);
      if (end > 0) return [pair.slice(0, end), pair.slice(end + 1)];
      throw new UsageError(`--${name} must be NAME${separator}VALUE, not "${pair}".`);
    }),
  );
}

/** Omits the properties that are `undefined`: an option that is not given must be absent. */
export function defined<Options extends object>(options: {
  [Name in keyof Options]: Options[Name] | undefined;
}): Options {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as Options;
}
