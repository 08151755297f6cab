/** `ledge types` */
import { exitCode, UsageError, type Invocation, type LeafCommand } from "./command.ts";

export const types: LeafCommand = {
  name: "types",
  summary: "Writes the types of env and of the runtime for TypeScript.",
  details:
    'The file is that of "wrangler types", with buckets typed StoreBucket. Without --env it holds\nfor the top level and every environment: what only some of them have is optional.',
  arguments: [
    {
      name: "PATH",
      summary: "The declaration file; worker-configuration.d.ts without it",
      optional: true,
    },
  ],
  options: {
    config: {
      summary: "The configuration file",
      short: "c",
      value: "FILE",
      otherwise: "the nearest",
    },
    env: { summary: "The environment", short: "e", value: "NAME" },
    "env-file": { summary: "A file of variables, instead of .env", value: "FILE", repeated: true },
    "env-interface": { summary: "The name of the interface", value: "NAME", otherwise: "Env" },
    "include-env": {
      summary: "Types of bindings and variables",
      value: "BOOLEAN",
      otherwise: "true",
    },
    "include-runtime": { summary: "Types of the runtime", value: "BOOLEAN", otherwise: "true" },
    "strict-vars": {
      summary: "Variables have the types of their values, not string",
      value: "BOOLEAN",
      otherwise: "true",
    },
    check: { summary: "Writes nothing, and fails when the file is out of date" },
  },
  examples: [
    "ledge types",
    "ledge types --check",
    "ledge types src/env.d.ts --include-runtime false",
  ],

  async run(invocation) {
    const { existsSync, readFileSync, writeFileSync } = await import("node:fs");
    const { shownPath } = await import("../config/config-file.ts");
    const { generateTypes } = await import("./project/generate-types.ts");
    const { path, content } = await generateTypes(typesOptions(invocation));
    if (invocation.options["check"] === undefined) {
      writeFileSync(path, content);
      console.log(`Wrote ${shownPath(path)}.`);
      return exitCode.done;
    }
    if (existsSync(path) && readFileSync(path, "utf8") === content) {
      console.log(`${shownPath(path)} is up to date.`);
      return exitCode.done;
    }
    const state = existsSync(path) ? "is out of date" : "is not there";
    console.error(`${shownPath(path)} ${state}: run "${typesCommand(invocation)}" and commit it.`);
    return exitCode.failed;
  },
};

function typesOptions(invocation: Invocation) {
  const { options, arguments: given } = invocation;
  const text = {
    path: given[0],
    configPath: options["config"] as string | undefined,
    environment: options["env"] as string | undefined,
    envInterface: options["env-interface"] as string | undefined,
    envFiles: options["env-file"] as readonly string[] | undefined,
    includeEnv: readBoolean(invocation, "include-env"),
    includeRuntime: readBoolean(invocation, "include-runtime"),
    strictVars: readBoolean(invocation, "strict-vars"),
    command: typesCommand(invocation),
  };
  return Object.fromEntries(Object.entries(text).filter(([, value]) => value !== undefined));
}

function readBoolean({ options }: Invocation, name: string): boolean | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  if (value === "true" || value === "false") return value === "true";
  throw new UsageError(`--${name} must be true or false, not "${value as string}".`);
}

/** What makes the same file again, whether or not this was only a check. */
function typesCommand({ options, arguments: given }: Invocation): string {
  const words = Object.entries(options).flatMap(([name, value]) => {
    if (name === "check" || value === undefined) return [];
    return (Array.isArray(value) ? value : [value]).map((each) => `--${name} ${String(each)}`);
  });
  return ["ledge types", ...given, ...words].join(" ");
}
