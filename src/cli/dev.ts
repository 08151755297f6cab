/** `ledge dev`: a script with its buckets and DNS, until it is ended. */
import type { LogLevel, StartDevOptions } from "../dev/options.ts";
import { portMax } from "../base/ports.ts";
import { UsageError, type LeafCommand, type OptionValues } from "./command.ts";

export const dev: LeafCommand = {
  name: "dev",
  summary: "Runs a script with its buckets, and DNS beside it.",
  details:
    "It is wrangler's dev server: sources are bundled, saving one reloads the script, and every\n" +
    "binding of the configuration file is there, store_buckets among them.",
  arguments: [
    { name: "SCRIPT", summary: "The script, instead of the configuration's main", optional: true },
  ],
  options: {
    config: {
      short: "c",
      value: "FILE",
      summary: "The configuration file",
      otherwise: "the nearest",
    },
    env: { short: "e", value: "NAME", summary: "The environment, [env.NAME] of the configuration" },
    port: {
      value: "PORT",
      summary: "Of the script; the next one if it is taken",
      otherwise: "8787",
    },
    ip: { value: "ADDRESS", summary: "The address to listen on", otherwise: "localhost" },
    "local-protocol": {
      value: "http|https",
      summary: "How the script is served",
      otherwise: "http",
    },
    "inspector-port": { value: "PORT", summary: "Of the inspector", otherwise: "9229" },
    "persist-to": {
      value: "FOLDER",
      summary: "Where state is kept",
      otherwise: ".wrangler/state beside the configuration file",
    },
    var: { value: "NAME:VALUE", summary: "A variable of the script", repeated: true },
    "store-latency": { value: "MS", summary: "Holds up each operation of buckets", otherwise: "0" },
    "no-dns": { summary: "Leaves DNS out" },
    "dns-port": { value: "PORT", summary: "Of DNS", otherwise: "8053" },
    "dns-api-port": { value: "PORT", summary: "Of DNS's record API", otherwise: "8788" },
    "log-level": {
      value: "LEVEL",
      summary: "none, error, warn, info, log or debug",
      otherwise: "info",
    },
    "show-interactive-dev-session": {
      value: "true|false",
      summary: "Whether keys are listened to",
      otherwise: "true on a terminal",
    },
  },
  examples: [
    "ledge dev",
    "ledge dev src/index.ts --env staging --port 3000",
    "ledge dev --store-latency 50 --no-dns",
  ],
  async run({ arguments: [script], options }) {
    const parsed = devOptions(options, script);
    const interactive = isInteractive(options["show-interactive-dev-session"]);
    const { runDevSession } = await import("../dev/session.ts");
    await runDevSession(parsed, { interactive });
    // Whoever keeps the process alive now has been told to end.
    process.exit(0);
  },
};

function devOptions(options: OptionValues, script: string | undefined): StartDevOptions {
  return defined({
    script,
    configPath: text(options["config"]),
    environment: text(options["env"]),
    port: port("port", options["port"]),
    ip: text(options["ip"]),
    localProtocol: oneOf("local-protocol", options["local-protocol"], ["http", "https"] as const),
    inspectorPort: port("inspector-port", options["inspector-port"]),
    persistTo: text(options["persist-to"]),
    variables: variables(options["var"]),
    storeLatencyMilliseconds: whole("store-latency", options["store-latency"], 60_000),
    dns: options["no-dns"] === true ? false : undefined,
    dnsPort: port("dns-port", options["dns-port"]),
    dnsApiPort: port("dns-api-port", options["dns-api-port"]),
    logLevel: oneOf("log-level", options["log-level"], logLevelNames),
  });
}

const logLevelNames: readonly LogLevel[] = ["none", "error", "warn", "info", "log", "debug"];

type Given = OptionValues[string];

function text(given: Given): string | undefined {
  return typeof given === "string" ? given : undefined;
}

function whole(name: string, given: Given, max: number): number | undefined {
  const written = text(given);
  if (written === undefined) return undefined;
  if (/^\d+$/.test(written) && Number(written) <= max) return Number(written);
  throw new UsageError(`--${name} ${written} is not a whole number from 0 to ${max}.`);
}

function port(name: string, given: Given): number | undefined {
  return whole(name, given, portMax);
}

function oneOf<Word extends string>(
  name: string,
  given: Given,
  words: readonly Word[],
): Word | undefined {
  const written = text(given);
  if (written === undefined) return undefined;
  const word = words.find((each) => each === written);
  if (word !== undefined) return word;
  throw new UsageError(`--${name} "${written}" is not known: use ${words.join(", ")}.`);
}

function variables(given: Given): Record<string, string> | undefined {
  if (!Array.isArray(given)) return undefined;
  return Object.fromEntries(
    (given as readonly string[]).map((pair) => {
      const end = pair.indexOf(":");
      if (end > 0) return [pair.slice(0, end), pair.slice(end + 1)];
      throw new UsageError(`--var "${pair}" names no variable: write it as NAME:VALUE.`);
    }),
  );
}

function isInteractive(given: Given): boolean {
  const wanted = oneOf("show-interactive-dev-session", given, ["true", "false"]) !== "false";
  return wanted && process.stdin.isTTY && process.stdout.isTTY;
}

/** Without what was not given. */
function defined(options: { [Name in keyof StartDevOptions]: StartDevOptions[Name] | undefined }) {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as StartDevOptions;
}
