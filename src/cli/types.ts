/** `ledge types`: writes the declaration file of a script's `env`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import {
  adoptOption,
  configFilesOptions,
  configSelection,
  exitCode,
  type Invocation,
  type LeafCommand,
} from "./command.ts";

const trueOrFalse = ["true", "false"];

export const types: LeafCommand = {
  name: "types",
  summary: "Writes the TypeScript types of env and of the runtime",
  details:
    'The file is the one that "wrangler types" writes, with buckets of the type StoreBucket. A\n' +
    "bucket that r2_buckets names has wrangler's type, with and without --adopt.\n" +
    "With several --config, the first is the script, and the classes of the others are the types of\n" +
    "service bindings and Durable Objects.\n" +
    "Without --env the file holds for the top level and every environment: a binding that only\n" +
    "some of them have is optional.",
  arguments: [["[PATH]", "The declaration file; by default worker-configuration.d.ts"]],
  options: {
    ...configFilesOptions,
    ...adoptOption,
    "--env-file FILE...": "A file of variables, instead of .env",
    "--env-interface NAME": "The name of the interface (default: Env)",
    "--include-env BOOLEAN": "Whether to write the types of bindings and variables (default: true)",
    "--include-runtime BOOLEAN": "Whether to write the types of the runtime (default: true)",
    "--strict-vars BOOLEAN":
      "Whether the type of a variable is its value; string otherwise (default: true)",
    "--check": "Writes nothing, and fails if the file is out of date",
  },
  choices: {
    "include-env": trueOrFalse,
    "include-runtime": trueOrFalse,
    "strict-vars": trueOrFalse,
  },
  examples: [
    "ledge types",
    "ledge types --check",
    "ledge types -c shop/wrangler.jsonc -c payments/wrangler.jsonc",
    "ledge types src/env.d.ts --include-runtime false",
  ],

  async run(invocation, file?: string) {
    const command = typesCommand(invocation);
    const { shownPath } = await import("../config/config-file.ts");
    const { generateTypes, replacedTypesNote } = await import("./generate-types.ts");
    const { path, content } = await generateTypes({
      ...configSelection(invocation),
      auxiliaryConfigPaths: invocation.list("config")?.slice(1),
      path: file,
      envInterface: invocation.text("env-interface"),
      envFiles: invocation.list("env-file"),
      includeEnv: invocation.boolean("include-env"),
      includeRuntime: invocation.boolean("include-runtime"),
      strictVars: invocation.boolean("strict-vars"),
      command,
    });
    const current = existsSync(path) ? readFileSync(path, "utf8") : null;
    if (!invocation.flag("check")) {
      const note = current ? replacedTypesNote(shownPath(path), current, command) : null;
      writeFileSync(path, content);
      console.log(`Wrote ${shownPath(path)}.`);
      if (note !== null) console.log(note);
      return exitCode.done;
    }
    if (current === content) {
      console.log(`${shownPath(path)} is up to date.`);
      return exitCode.done;
    }
    const state = current === null ? "does not exist" : "is out of date";
    console.error(`${shownPath(path)} ${state}: run "${command}" and commit the file.`);
    return exitCode.failed;
  },
};

/** The command that writes the same file, with or without `--check`. */
function typesCommand({ options, arguments: words }: Invocation): string {
  const optionWords = Object.entries(options).flatMap(([name, value]) => {
    if (name === "check" || value === undefined) return [];
    if (value === true) return [`--${name}`];
    return (Array.isArray(value) ? value : [value]).map((each) => `--${name} ${String(each)}`);
  });
  return ["ledge types", ...words, ...optionWords].join(" ");
}
